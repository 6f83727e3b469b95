// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// The actions of Events of rollouts.
const (
	actionHoldRollout    = "HoldRollout"
	actionReleasePod     = "ReleasePod"
	actionRestartPod     = "RestartPod"
	actionReleaseRollout = "ReleaseRollout"
)

// apply does a step: it records the pod that restarts, sets the strategies, and deletes the pod.
func (c *Reconciler) apply(ctx context.Context, o owner.Owner, r rollouts.State, step rollout.Step) (reconcile.Result, error) {
	again := reconcile.Result{RequeueAfter: queue.Recheck}
	err := c.write(ctx, o, r, step)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		// Another client was first. The step is decided again.
		return again, nil
	case write.Answered(err):
		wait := c.denied.Next(o.Key())
		c.announce(o, policy.NewNote(reasons.RolloutWriteDenied, "cannot continue the rollout (%s: %s); it is retried in %s: %v", step.Reason, step.Message, policy.Duration(wait), err), actionHoldRollout)
		return reconcile.Result{RequeueAfter: wait}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("continue the rollout of %s: %w", o, err)
	}
	c.denied.Remove(o.Key())
	if r.Bypassed() {
		holds.Remove(o.Key())
		return again, nil
	}
	c.publish(o, step)
	return again, nil
}

// publish sets the metrics, and records an Event for each new reason and each pod that restarts.
func (c *Reconciler) publish(o owner.Owner, step rollout.Step) {
	key := o.Key()
	if step.Act == rollout.Release && step.Set == "" {
		holds.Remove(key)
	} else {
		holds.Swap(key, step.Reason)
	}
	action, text := actionHoldRollout, "the rollout is held: "+step.Message
	switch step.Act {
	case rollout.Hold:
	case rollout.Next:
		action, text = actionReleasePod, fmt.Sprintf("%s restarts with the new template: %s", step.Pod, step.Message)
	case rollout.Restart:
		action, text = actionRestartPod, step.Message
	case rollout.Release:
		action, text = actionReleaseRollout, "the rollout is not held any more: "+step.Message
		if step.Set != "" {
			text = fmt.Sprintf("the rollout of StatefulSet %s is not held any more, and the others of the cluster wait for it: %s", step.Set, step.Message)
		}
	}
	c.announce(o, policy.NewNote(step.Reason, "%s", text), action)
}

// announce records an Event, unless the last one had the same reason.
func (c *Reconciler) announce(o owner.Owner, n policy.Note, action string) {
	if rollout.Passing(n.Reason) {
		return
	}
	if last, _ := c.announced.Swap(o.Key(), n.Reason); last == n.Reason {
		return
	}
	kind := corev1.EventTypeWarning
	switch n.Reason {
	case rollout.Complete, policy.AllReady, policy.CuresMember, rollout.PodAbsent, rollout.PodLeaving, rollout.OneByOne:
		kind = corev1.EventTypeNormal
	}
	announce.Event(c.Recorder, announce.Reference(o), nil, kind, n, action)
}
