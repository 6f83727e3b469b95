// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
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
	again := reconcile.Result{RequeueAfter: recheck}
	err := c.write(ctx, o, r, step)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		// Another client was first. The step is decided again.
		return again, nil
	case write.Answered(err):
		wait := c.denied.Next(o.Key())
		c.announce(o, policy.NewNote(reasons.RolloutWriteDenied, "cannot continue the rollout (%s: %s); it is retried in %s: %v", step.Reason, step.Message, wait, err), actionHoldRollout)
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

func (c *Reconciler) write(ctx context.Context, o owner.Owner, r rollouts.State, step rollout.Step) error {
	if err := c.recordLeaving(ctx, &r, step); err != nil {
		return err
	}
	for _, i := range inOrder(&r, step) {
		set := r.Sets[i]
		set.Follows = step.Set != "" && set.Name != step.Set
		switch {
		case set.Record == nil:
			continue
		case set.Bypassed:
			c.announce(o, policy.NewNote(reasons.RolloutBypassed, "StatefulSet %s has another update strategy than was set, so its rollout is not held any more", set.Name), actionReleaseRollout)
		}
		patch, err := set.Patch(r.Facts.Sets[i].Value, step.Values[i], set.Bypassed || step.Released[i], step.Reason, r.At)
		if err != nil {
			return err
		}
		if patch == nil {
			continue
		}
		if err := c.Client.Patch(ctx, set.DeepCopy(), patch, write.FieldOwner); err != nil {
			return err
		}
	}
	pod := r.Pods[step.Pod]
	if !step.Delete || pod == nil {
		return nil
	}
	return c.Client.Delete(ctx, pod.DeepCopy(), client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
}

// inOrder returns the indexes of the StatefulSets in the order in which they are written. One that others wait for is
// the last: if it is released, the others show when.
func inOrder(r *rollouts.State, step rollout.Step) []int {
	var order, last []int
	for i := range r.Sets {
		if step.Set != "" && r.Sets[i].Name == step.Set {
			last = append(last, i)
		} else {
			order = append(order, i)
		}
	}
	return append(order, last...)
}

// recordLeaving records the pod that restarts next, as an eviction: the guard of evictions admits none
// beside it. It renews the record while the pod is still there. It fails where an eviction was recorded
// since the facts were read.
func (c *Reconciler) recordLeaving(ctx context.Context, r *rollouts.State, step rollout.Step) error {
	pod := r.Pods[step.Pod]
	// The guard counts a member that hangs in a Ready pod.
	if pod == nil || step.Act != rollout.Next && !podstate.Ready(pod) || r.Holder == nil || !r.Changes(step) && r.RecordedFor(pod.Name, eviction.Bound/2) {
		return nil
	}
	patch, err := observe.RecordPatch(r.Holder, r.Record(pod))
	if err != nil {
		return err
	}
	holder := r.Holder.DeepCopyObject().(client.Object)
	if err := c.Client.Patch(ctx, holder, patch, write.FieldOwner); err != nil {
		return err
	}
	r.Wrote(holder)
	return nil
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
