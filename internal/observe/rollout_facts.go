// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

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

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// Rollout is what is known of the rollout of a cluster.
type Rollout struct {
	Facts rollout.Facts
	// Sets are the StatefulSets of Facts.Sets, in the same order.
	Sets []RolloutSet
	// Leaving has the holder for a record of the pod that restarts next.
	Leaving
	// Pods are those of the members, by name.
	Pods map[string]*corev1.Pod
	// At is when the facts were read.
	At time.Time
}

// RolloutSet is a StatefulSet. Its object is of the cache and must not be changed.
type RolloutSet struct {
	*appsv1.StatefulSet
	// Record is nil for a StatefulSet whose rollout is not held. Bypassed is true if its strategy is not
	// the one that was set last: another client has written it past admission.
	Record   *annotation.RolloutRecord
	Bypassed bool
	// ReleaseSince is since when no policy holds it, to be recorded. It is zero while one does.
	ReleaseSince time.Time
}

// LiveRollout reads the rollout of a cluster from the API server.
func (r *Reader) LiveRollout(ctx context.Context, o owner.Owner) (Rollout, error) {
	return (&Reader{Reader: r.Uncached(), Leases: r.Leases}).WithoutNodes().Rollout(ctx, o)
}

// Rollout reads the rollout of a cluster. The budgets are read first, as for evictions: one that is
// recorded after that is seen as a conflict.
func (r *Reader) Rollout(ctx context.Context, o owner.Owner) (Rollout, error) {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.List(ctx, &budgets, client.InNamespace(o.Namespace)); err != nil {
		return Rollout{}, fmt.Errorf("list budgets of namespace %s: %w", o.Namespace, err)
	}
	w, err := r.workload(ctx, o)
	if err != nil {
		return Rollout{}, err
	}
	facts, err := r.Facts(ctx, o)
	if err != nil {
		return Rollout{}, err
	}
	out := Rollout{At: facts.At, Leaving: r.leaving(&w, budgets.Items), Pods: map[string]*corev1.Pod{}}
	for _, pod := range w.pods {
		out.Pods[pod.Name] = pod
	}
	out.Facts = rollout.Facts{Cluster: facts.Cluster, Confirmed: facts.Confirmed, Reason: ReleaseReason(o.Annotations)}
	for _, e := range out.underWay {
		out.Facts.Leaving = append(out.Facts.Leaving, e.Pod)
	}
	for _, sts := range w.sets() {
		out.add(sts, facts.Cluster.Members)
	}
	out.addPeers(o)
	return out, r.addData(ctx, &out)
}

// add reads a StatefulSet.
func (o *Rollout) add(sts *appsv1.StatefulSet, members []policy.Member) {
	s := RolloutSet{StatefulSet: sts}
	set := rollout.Set{
		Name: sts.Name, Value: annotation.RolloutValueOf(&sts.Spec.UpdateStrategy),
		Observed: sts.Status.ObservedGeneration >= sts.Generation,
		Ordered:  sts.Spec.PodManagementPolicy != appsv1.ParallelPodManagement,
	}
	if record, ok := annotation.RecoverRolloutRecord(sts.Annotations, o.At); ok {
		s.Record, s.Bypassed = &record, record.Value != set.Value
		set.Held, set.Author = !s.Bypassed, annotation.RolloutValueOf(&record.Author).Partition
		set.Several = annotation.RestartsAtOnce(&record.Author, replicasOf(sts)) > 1
		if since := o.At.Sub(record.Since); o.Facts.Since == 0 || since < o.Facts.Since {
			o.Facts.Since = since
		}
	}
	whole := owner.OfStatefulSet(sts)
	for i := range replicasOf(sts) {
		set.Pods = append(set.Pods, o.podOf(sts, whole.PodName(i), members))
	}
	if o.Facts.Reason == "" {
		o.Facts.Reason = ReleaseReason(sts.Annotations)
	}
	o.Facts.Sets, o.Sets = append(o.Facts.Sets, set), append(o.Sets, s)
}

// Unguard adds that no policy holds the rollout: since the earliest time that is recorded, or since now.
func (o *Rollout) Unguard() {
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
func (o *Rollout) podOf(sts *appsv1.StatefulSet, name string, members []policy.Member) rollout.Pod {
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
	return p
}

// Bypassed reports whether the strategies of all StatefulSets with a record were written past
// admission, so that none is held.
func (o *Rollout) Bypassed() bool {
	return !slices.ContainsFunc(o.Sets, func(s RolloutSet) bool { return s.Record != nil && !s.Bypassed })
}

// Wrote replaces a StatefulSet by the version that a write has returned. A patch of the version before
// would be a conflict.
func (o *Rollout) Wrote(obj client.Object) {
	sts, is := obj.(*appsv1.StatefulSet)
	for i := range o.Sets {
		if is && o.Sets[i].UID == sts.UID {
			o.Sets[i].StatefulSet = sts
		}
	}
}

// AnyRecord reports whether a StatefulSet has a record of a rollout.
func (o *Rollout) AnyRecord() bool {
	return slices.ContainsFunc(o.Sets, func(s RolloutSet) bool { return s.Record != nil })
}

// AdoptsPods reports whether a StatefulSet that is being created takes over pods, as after kubectl
// delete --cascade=orphan. They have the template of the one before.
func (r *Reader) AdoptsPods(ctx context.Context, sts *appsv1.StatefulSet) (bool, error) {
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

// addData adds which members that are not ready may lose their data with the pod. With a quorum, the
// others have all that was acknowledged, and nothing is read.
func (r *Reader) addData(ctx context.Context, o *Rollout) error {
	if o.Facts.Cluster.ReadyVoters() >= policy.Quorum(o.Facts.Cluster.Size) {
		return nil
	}
	for i := range o.Facts.Sets {
		pods := o.Facts.Sets[i].Pods
		for at := range pods {
			pod := o.Pods[pods[at].Pod]
			if pod == nil || pods[at].PodReady {
				continue
			}
			var err error
			if pods[at].DataEnds, err = r.dataEnds(ctx, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// dataEnds reports whether the data of a pod's member may end with the pod.
func (r *Reader) dataEnds(ctx context.Context, pod *corev1.Pod) (bool, error) {
	volumes, kept := etcdconf.DataVolumes(pod)
	if !kept {
		return true, nil
	}
	for _, v := range volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		var claim corev1.PersistentVolumeClaim
		found, err := r.Fetch(ctx, pod.Namespace, v.PersistentVolumeClaim.ClaimName, &claim)
		if err != nil {
			return false, fmt.Errorf("observe PersistentVolumeClaim %s/%s: %w", pod.Namespace, v.PersistentVolumeClaim.ClaimName, err)
		}
		if found && claim.DeletionTimestamp != nil {
			return true, nil
		}
	}
	return false, nil
}
