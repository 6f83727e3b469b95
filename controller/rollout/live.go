// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// recheckLive is how often a hold is decided again by facts of the API server while the cache shows the
// same as before. Such a hold may last for days.
const recheckLive = 15 * time.Second

// liveHold is a hold that was decided by facts of the API server, and the step that the cache showed.
type liveHold struct {
	cached, step rollout.Step
	at           time.Time
}

// needsLive reports whether a step that the cache shows must be decided by facts of the API server: a pod
// may restart by it, or there is no quorum. Then the data of the pods that are down decides, and the cache
// has no volumes.
func needsLive(s rollout.Step) bool { return s.Act != rollout.Hold || s.Reason == policy.NoQuorum }

// heldLive reports whether the API server showed a moment ago that a step is a hold, and the cluster is held
// so.
func (c *Reconciler) heldLive(key owner.Key, r *rollouts.State, cached rollout.Step) bool {
	last, known := c.lives.Get(key)
	return known && c.Clock.Since(last.at) < recheckLive && same(last.cached, cached) && len(last.step.Values) == len(r.Sets) && !r.Changes(last.step)
}

// rememberLive remembers a hold of a cluster with a member that is down. Other holds end by what the cache
// shows, or within seconds.
func (c *Reconciler) rememberLive(key owner.Key, cached, step rollout.Step) {
	switch {
	case step.Act != rollout.Hold:
	case step.Reason == rollout.DataEnds, step.Reason == policy.NoQuorum, step.Reason == rollout.UpdatedNotReady:
		c.lives.Swap(key, liveHold{cached: cached, step: step, at: c.Clock.Now()})
		return
	}
	c.lives.Remove(key)
}

func same(a, b rollout.Step) bool {
	return a.Act == b.Act && a.Reason == b.Reason && a.Pod == b.Pod && a.Delete == b.Delete
}
