// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout has the reconciler that releases the rollouts which admission holds.
package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// Reconciler releases the rollouts that admission holds: one member at a time, while the cluster is
// well. It gives the author's strategy back when a rollout is complete, or when no policy has held it
// for the settle time.
//
// All that it must remember is in annotations of the StatefulSet. Each step can be repeated, and
// another replica continues after any of them. A step that restarts a pod is decided by facts that
// are read from the API server.
type Reconciler struct {
	Client Writer
	// Reader counts the answers of members, where it has any.
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	denied write.Denials[owner.Key]
	// missing has the time since which pods don't exist, by name.
	missing memory.Keyed[owner.Key, map[string]time.Time]
	// lives has the last hold that was decided by facts of the API server, and that the cache can't show.
	lives memory.Keyed[owner.Key, liveHold]
	// announced has the reason that was last recorded as an Event.
	announced memory.Keyed[owner.Key, policy.Reason]
}

// Writer has the methods of a client by which this controller writes.
type Writer interface {
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// recheckPeers is how often a rollout is decided again that peer URLs hold. Only the API server has the flags of
// pods by which that is known, and such a hold ends by a write of the StatefulSet, which is watched.
const recheckPeers = time.Minute

// Reconcile does one step of the rollout of a cluster.
func (c *Reconciler) Reconcile(ctx context.Context, key owner.Key) (reconcile.Result, error) {
	o, found, err := c.Reader.Owner(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found {
		return c.orphaned(ctx, key)
	}
	r, err := rollouts.Read(ctx, c.Reader, o)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observe the rollout of %s: %w", o, err)
	}
	if !r.AnyRecord() {
		c.removeState(key)
		return reconcile.Result{}, nil
	}
	match, err := topologypolicy.For(ctx, c.Reader, o)
	if err != nil {
		return reconcile.Result{}, err
	}
	step := c.evaluate(key, &r, match)
	if needsLive(step) {
		if c.heldLive(key, &r, step) {
			return reconcile.Result{RequeueAfter: queue.Recheck}, nil
		}
		cached := step
		// The cache may be behind.
		if r, err = rollouts.ReadLive(ctx, c.Reader, o); err != nil {
			return reconcile.Result{}, fmt.Errorf("observe the rollout of %s: %w", o, err)
		}
		step = c.evaluate(key, &r, match)
		c.rememberLive(key, cached, step)
	}
	result, err := c.apply(ctx, o, r, step)
	if step.Reason == rollout.PeersMove && result.RequeueAfter > 0 {
		result.RequeueAfter = max(result.RequeueAfter, recheckPeers)
	}
	return result, err
}

// evaluate returns the next step. If no policy holds the rollout any more, it adds to r since when.
func (c *Reconciler) evaluate(key owner.Key, r *rollouts.State, match topologypolicy.Match) rollout.Step {
	c.addMissing(key, r)
	if holding(match) == nil {
		r.Unguard()
	}
	return rollout.Evaluate(r.Facts, settingsOf(match))
}

// settingsOf returns the settings of the policy by which rollouts are held, or else of the one that
// selects the cluster, or else the defaults, as for budgets.
func settingsOf(match topologypolicy.Match) rollout.Settings {
	return topologypolicy.RolloutSettings(cmp.Or(holding(match), match.Policy, &v1alpha1.EtcdTopologyPolicy{}))
}

// addMissing adds since when pods don't exist. Another replica begins to count again.
func (c *Reconciler) addMissing(key owner.Key, r *rollouts.State) {
	before, _ := c.missing.Get(key)
	now := map[string]time.Time{}
	for i := range r.Facts.Sets {
		for j := range r.Facts.Sets[i].Pods {
			p := &r.Facts.Sets[i].Pods[j]
			if p.Exists {
				continue
			}
			since, known := before[p.Pod]
			if !known {
				since = c.Clock.Now()
			}
			now[p.Pod], p.MissingFor = since, c.Clock.Since(since)
		}
	}
	c.missing.Swap(key, now)
}

// holding returns the policy by which rollouts are held, nil for none. Of policies with the same
// priority it is the one whose guard is the strictest.
func holding(m topologypolicy.Match) *v1alpha1.EtcdTopologyPolicy {
	for _, p := range append(slices.Clone(m.Tied), m.Policy) {
		if p != nil && p.Spec.GuardRollouts() == v1alpha1.ModeEnforce {
			return p
		}
	}
	return nil
}

// orphaned continues after a cluster that is none any more, or has another key now. It ends the holds
// of the StatefulSets in its namespace that no cluster has, and goes on with the others: a StatefulSet
// that is held has no event by which its new key would be found.
func (c *Reconciler) orphaned(ctx context.Context, key owner.Key) (reconcile.Result, error) {
	c.removeState(key)
	var sets appsv1.StatefulSetList
	if err := c.Reader.List(ctx, &sets, client.InNamespace(key.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("list StatefulSets of namespace %s: %w", key.Namespace, err)
	}
	var result reconcile.Result
	var failed []error
	for i := range sets.Items {
		sts := &sets.Items[i]
		if !rollouts.Recorded(sts.Annotations) {
			continue
		}
		next, err := c.endOrphan(ctx, key, sts)
		failed = append(failed, err)
		result.RequeueAfter = max(result.RequeueAfter, next.RequeueAfter)
	}
	if err := errors.Join(failed...); err != nil {
		return reconcile.Result{}, err
	}
	return result, nil
}

// endOrphan restores the strategy of a StatefulSet that is no etcd cluster after the settle time: a
// workload that is declared, or known by its template, may be known again by then. For one of another
// cluster, it does the next step of its rollout.
func (c *Reconciler) endOrphan(ctx context.Context, gone owner.Key, sts *appsv1.StatefulSet) (reconcile.Result, error) {
	o, found, err := c.Reader.OwnerOfStatefulSet(ctx, sts)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case found && o.Key() == gone:
		return reconcile.Result{RequeueAfter: queue.Recheck}, nil // the cache has both
	case found && (sts.Name == gone.Name || o.Spans()):
		return c.Reconcile(ctx, o.Key())
	case found:
		return reconcile.Result{}, nil
	}
	match, err := topologypolicy.For(ctx, c.Reader, owner.OfStatefulSet(sts))
	if err != nil {
		return reconcile.Result{}, err
	}
	patch, wait, err := rollouts.End(sts, settingsOf(match).Settle, c.Clock.Now())
	if err == nil && patch != nil {
		err = client.IgnoreNotFound(c.Client.Patch(ctx, sts.DeepCopy(), patch, write.FieldOwner))
	}
	return reconcile.Result{RequeueAfter: min(wait, queue.Recheck)}, err
}

func (c *Reconciler) removeState(key owner.Key) {
	c.denied.Remove(key)
	c.announced.Remove(key)
	c.missing.Remove(key)
	c.lives.Remove(key)
	holds.Remove(key)
}
