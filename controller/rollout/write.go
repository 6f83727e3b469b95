// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// write records the pod that restarts, sets the strategies, and deletes the pod.
//
// With the release of one of several StatefulSets, the wait of the others begins again, and they record that before. A pod
// that restarts is recorded before, too. So all writes are dry runs first: if the API server refuses one, nothing is
// changed, the wait goes on, and no drain waits for a pod that does not restart. A webhook that was installed before
// Kubernetes 1.22 may support no dry run, which is a bad request.
func (c *Reconciler) write(ctx context.Context, o owner.Owner, r rollouts.State, step rollout.Step) error {
	records := recordsLeaving(&r, step)
	if step.Set != "" || records {
		if err := c.patchSets(ctx, o, &r, step, client.DryRunAll); err != nil && !apierrors.IsBadRequest(err) {
			return err
		}
	}
	if records {
		if err := c.recordLeaving(ctx, &r, step); err != nil {
			return err
		}
	}
	if err := c.patchSets(ctx, o, &r, step); err != nil {
		return err
	}
	pod := r.Pods[step.Pod]
	if !step.Delete || pod == nil {
		return nil
	}
	return c.Client.Delete(ctx, pod.DeepCopy(), client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
}

// patchSets sets the strategies and the records of the StatefulSets.
func (c *Reconciler) patchSets(ctx context.Context, o owner.Owner, r *rollouts.State, step rollout.Step, opts ...client.PatchOption) error {
	for _, i := range inOrder(r, step) {
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
		if err := c.Client.Patch(ctx, set.DeepCopy(), patch, append(opts, write.FieldOwner)...); err != nil {
			return err
		}
	}
	return nil
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

// recordsLeaving reports whether a step needs a record of the pod that restarts: until it has one, and while the pod is
// still there. The guard of evictions counts a member that hangs in a Ready pod as healthy.
func recordsLeaving(r *rollouts.State, step rollout.Step) bool {
	counts := step.Act == rollout.Next || slices.ContainsFunc(r.Facts.Cluster.Members, func(m policy.Member) bool { return m.Pod == step.Pod && m.PodReady })
	if r.Pods[step.Pod] == nil || r.Holder == nil || !counts {
		return false
	}
	return r.Changes(step) || !r.RecordedFor(step.Pod, eviction.Bound/2)
}

// recordLeaving records the pod that restarts next, as an eviction: the guard of evictions admits none
// beside it. It fails where an eviction was recorded since the facts were read.
func (c *Reconciler) recordLeaving(ctx context.Context, r *rollouts.State, step rollout.Step) error {
	patch, err := observe.RecordPatch(r.Holder, r.Record(r.Pods[step.Pod]))
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
