// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package rollouts reads how far the rollouts of a cluster's StatefulSets are, and makes the patches of their
// strategies and records. policy/rollout decides which pod restarts next.
package rollouts

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// State is what is known of the rollout of a cluster.
type State struct {
	Facts rollout.Facts
	// Sets are the StatefulSets of Facts.Sets, in the same order.
	Sets []Set
	// Leaving has the holder for a record of the pod that restarts next.
	observe.Leaving
	// Pods are those of the members, by name.
	Pods map[string]*corev1.Pod
	// At is when the facts were read.
	At time.Time
}

// Set is a StatefulSet. Its object is of the cache and must not be changed.
type Set struct {
	*appsv1.StatefulSet
	// Record is nil for a StatefulSet whose rollout is not held. Bypassed is true if its strategy is not
	// the one that was set last: another client has written it past admission.
	Record   *annotation.RolloutRecord
	Bypassed bool
	// ReleaseSince is since when no policy holds it, to be recorded. It is zero while one does.
	ReleaseSince time.Time
	// Follows is true if another StatefulSet of the cluster is released now, and this one waits for it: the last
	// step is then the current one.
	Follows bool
}

// ReadLive reads the rollout of a cluster from the API server.
func ReadLive(ctx context.Context, r *observe.Reader, o owner.Owner) (State, error) {
	live := r.ByName()
	out, err := read(ctx, live, r, o)
	if err != nil {
		return out, err
	}
	return out, addData(ctx, live, &out)
}

// Read reads the rollout of a cluster, except what the cache doesn't have: which members may lose their
// data with the pod, which peer URLs they have, and which pods can't start. The budgets are read first, as for evictions: one that is
// recorded after that is seen as a conflict.
func Read(ctx context.Context, r *observe.Reader, o owner.Owner) (State, error) {
	return read(ctx, r, r, o)
}

// read reads the rollout by r, and what shows the size of a cluster without a record of it by cached. The answers of
// members are those that cached has.
func read(ctx context.Context, r, cached *observe.Reader, o owner.Owner) (State, error) {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.List(ctx, &budgets, client.InNamespace(o.Namespace)); err != nil {
		return State{}, fmt.Errorf("list budgets of namespace %s: %w", o.Namespace, err)
	}
	w, err := r.Workload(ctx, o)
	if err != nil {
		return State{}, err
	}
	facts, err := r.Asking(cached.Health).Facts(ctx, o)
	if err != nil {
		return State{}, err
	}
	if err := cached.AddSizeBefore(ctx, o, &facts, false); err != nil {
		return State{}, err
	}
	out := State{At: facts.At, Leaving: r.Leaving(&w, budgets.Items), Pods: map[string]*corev1.Pod{}}
	for _, pod := range w.Pods {
		out.Pods[pod.Name] = pod
	}
	out.Facts = rollout.Facts{Cluster: facts.Cluster, Confirmed: facts.Confirmed, Reason: ReleaseReason(o.Annotations)}
	for _, e := range out.UnderWay {
		out.Facts.Leaving = append(out.Facts.Leaving, e.Pod)
	}
	for _, sts := range w.Sets() {
		out.add(sts, facts.Cluster.Members)
	}
	out.addPeers(o)
	return out, nil
}

// add reads a StatefulSet.
func (o *State) add(sts *appsv1.StatefulSet, members []policy.Member) {
	s := Set{StatefulSet: sts}
	set := rollout.Set{
		Name: sts.Name, Value: annotation.RolloutValueOf(&sts.Spec.UpdateStrategy),
		Observed: sts.Status.ObservedGeneration >= sts.Generation,
		Ordered:  sts.Spec.PodManagementPolicy != appsv1.ParallelPodManagement,
	}
	if record, ok := annotation.RecoverRolloutRecord(sts.Annotations, o.At); ok {
		s.Record, s.Bypassed = &record, record.Value != set.Value
		set.Held, set.Author = !s.Bypassed, annotation.RolloutValueOf(&record.Author).Partition
		set.Several = annotation.RestartsAtOnce(&record.Author, owner.ReplicasOf(sts)) > 1
		if since := o.At.Sub(record.Since); o.Facts.Since == 0 || since < o.Facts.Since {
			o.Facts.Since = since
		}
	}
	whole := owner.OfStatefulSet(sts)
	for i := range owner.ReplicasOf(sts) {
		set.Pods = append(set.Pods, o.podOf(sts, whole.PodName(i), members))
	}
	if o.Facts.Reason == "" {
		o.Facts.Reason = ReleaseReason(sts.Annotations)
	}
	o.Facts.Sets, o.Sets = append(o.Facts.Sets, set), append(o.Sets, s)
}

// Unguard adds that no policy holds the rollout: since the earliest time that is recorded, or since now.
func (o *State) Unguard() {
	since := o.At
	for _, s := range o.Sets {
		if s.Record != nil && !s.Record.ReleaseSince.IsZero() && s.Record.ReleaseSince.Before(since) {
			since = s.Record.ReleaseSince
		}
	}
	for i := range o.Sets {
		o.Sets[i].ReleaseSince = since
	}
	o.Facts.Unguarded, o.Facts.UnguardedFor = true, o.At.Sub(since)
}

// podOf returns a replica of a StatefulSet by its name.
func (o *State) podOf(sts *appsv1.StatefulSet, name string, members []policy.Member) rollout.Pod {
	p := rollout.Pod{Member: policy.Member{Pod: name}}
	for _, m := range members {
		if m.Pod == name {
			p.Member = m
		}
	}
	pod := o.Pods[name]
	p.Exists = pod != nil
	if pod == nil {
		return p
	}
	p.Going = pod.DeletionTimestamp != nil
	p.Updated = pod.Labels[appsv1.StatefulSetRevisionLabel] == sts.Status.UpdateRevision
	p.Failing = podstate.CantStart(pod)
	if since, ran := podstate.StartedSince(pod); ran {
		p.StartedFor = max(0, o.At.Sub(since))
	}
	changed := pod.CreationTimestamp.Time
	if c := podstate.Condition(pod, corev1.PodReady); c != nil {
		changed = c.LastTransitionTime.Time
	}
	if !p.PodReady {
		if !podstate.NodeUnreachable(pod) {
			p.NotReadyFor = max(0, o.At.Sub(changed))
		}
		return p
	}
	// The StatefulSet's controller waits as long.
	p.PodReady = o.At.Sub(changed) >= time.Duration(sts.Spec.MinReadySeconds)*time.Second
	p.Young = p.JustReady || p.Ready && !p.PodReady
	return p
}

// Bypassed reports whether the strategies of all StatefulSets with a record were written past
// admission, so that none is held.
func (o *State) Bypassed() bool {
	return !slices.ContainsFunc(o.Sets, func(s Set) bool { return s.Record != nil && !s.Bypassed })
}

// Wrote replaces a StatefulSet by the version that a write has returned. A patch of the version before
// would be a conflict.
func (o *State) Wrote(obj client.Object) {
	sts, is := obj.(*appsv1.StatefulSet)
	for i := range o.Sets {
		if is && o.Sets[i].UID == sts.UID {
			o.Sets[i].StatefulSet = sts
		}
	}
}

// AnyRecord reports whether a StatefulSet has a record of a rollout.
func (o *State) AnyRecord() bool {
	return slices.ContainsFunc(o.Sets, func(s Set) bool { return s.Record != nil })
}

// AdoptsPods reports whether a StatefulSet that is being created takes over pods, as after kubectl
// delete --cascade=orphan. They have the template of the one before.
func AdoptsPods(ctx context.Context, r *observe.Reader, sts *appsv1.StatefulSet) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(sts.Spec.Selector)
	if err != nil {
		return false, err
	}
	var pods corev1.PodList
	err = r.List(ctx, &pods, client.InNamespace(sts.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("list pods of StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	whole := owner.OfStatefulSet(sts)
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
		return p.DeletionTimestamp == nil && metav1.GetControllerOfNoCopy(&p) == nil && whole.Ordinal(p.Name) >= 0
	}), nil
}
