// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Workload is the objects of an owner's cluster. They are objects of the cache, which must not be
// changed.
type Workload struct {
	owner owner.Owner
	// etcd is nil for a cluster that isn't druid's.
	etcd *druidv1alpha1.Etcd
	// StatefulSet is nil while it doesn't exist.
	StatefulSet *appsv1.StatefulSet
	// rest are the other StatefulSets of a cluster that spans several.
	rest []*appsv1.StatefulSet
	// Pods are the members', in order.
	Pods []*corev1.Pod
}

// Workload reads the objects of an owner's cluster.
func (r *Reader) Workload(ctx context.Context, o owner.Owner) (Workload, error) {
	w := Workload{owner: o}
	if !o.WithoutStatefulSet() {
		if err := r.readSets(ctx, &w); err != nil || w.StatefulSet == nil {
			return w, err
		}
	}
	// A selector doesn't decide: a pod with edited labels is still a member.
	member := func(pod *corev1.Pod) bool {
		if slices.Contains(o.PodsBeside, pod.Name) && owner.CountsAsMember(pod) {
			return true
		}
		return slices.ContainsFunc(w.Sets(), func(s *appsv1.StatefulSet) bool { return owner.Made(s, pod) })
	}
	pods, err := r.podsOf(ctx, &w)
	if err != nil {
		return w, err
	}
	if o.WithoutStatefulSet() {
		if err := r.Declare(ctx, o.Namespace, pods); err != nil {
			return w, err
		}
		member = owner.MembersOf(o, pods)
	}
	for i := range pods {
		if member(&pods[i]) {
			w.Pods = append(w.Pods, w.declared(&pods[i]))
		}
	}
	slices.SortFunc(w.Pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(o.Ordinal(a.Name), o.Ordinal(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return w, nil
}

// readSets reads the Etcd and the StatefulSets of a cluster. It leaves out the StatefulSet if that
// of its name has another owner.
func (r *Reader) readSets(ctx context.Context, w *Workload) (err error) {
	o := w.owner
	if w.etcd, _, err = r.Etcd(ctx, o); err != nil {
		return fmt.Errorf("observe %s: %w", o, err)
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, o.Namespace, o.StatefulSet, &sts)
	if err != nil {
		return fmt.Errorf("observe StatefulSet %s/%s: %w", o.Namespace, o.StatefulSet, err)
	}
	if ref := metav1.GetControllerOfNoCopy(&sts); !found || w.etcd != nil && (ref == nil || ref.UID != w.etcd.UID) {
		return nil
	}
	w.StatefulSet = &sts
	return r.readRest(ctx, w)
}

// readRest reads the other StatefulSets of a cluster that spans several. One that has just been
// deleted has no pods that would come back.
func (r *Reader) readRest(ctx context.Context, w *Workload) error {
	for _, part := range w.owner.Workloads {
		if part.Name == w.owner.StatefulSet {
			continue
		}
		var sts appsv1.StatefulSet
		found, err := r.Fetch(ctx, w.owner.Namespace, part.Name, &sts)
		if err != nil {
			return fmt.Errorf("observe StatefulSet %s/%s: %w", w.owner.Namespace, part.Name, err)
		}
		if found {
			w.rest = append(w.rest, &sts)
		}
	}
	return nil
}

// Sets returns the StatefulSets of the cluster that exist.
func (w *Workload) Sets() []*appsv1.StatefulSet {
	if w.StatefulSet == nil {
		return nil
	}
	return append([]*appsv1.StatefulSet{w.StatefulSet}, w.rest...)
}

// memberLabels returns the labels of the members' pods. Where there is no pod yet, it returns those
// that the next one will have.
func (w *Workload) memberLabels() []labels.Set {
	var out []labels.Set
	if len(w.Pods) == 0 {
		out = append(out, w.nextLabels())
		for _, sts := range w.rest {
			out = append(out, owner.FirstPodLabels(sts))
		}
		return out
	}
	for _, pod := range w.Pods {
		out = append(out, pod.Labels)
	}
	return out
}

func (w *Workload) nextLabels() labels.Set {
	next := labels.Set{}
	switch {
	case w.owner.WithoutStatefulSet():
		if len(w.Pods) > 0 {
			maps.Copy(next, w.Pods[0].Labels)
		}
		return next
	case w.StatefulSet != nil:
		return owner.FirstPodLabels(w.StatefulSet)
	case w.etcd != nil:
		// druid creates the budget before the StatefulSet. Its template will have these labels.
		maps.Copy(next, w.etcd.Spec.Labels)
		maps.Copy(next, w.owner.MemberSelector.MatchLabels)
		next[druidv1alpha1.LabelAppNameKey] = w.etcd.Name
	}
	pod := w.owner.PodName(0)
	next[appsv1.StatefulSetPodNameLabel] = pod
	return next
}

// ServedBy reports whether a Service selects some member, when a traffic cut is ignored. The
// endpoints of a Service without a selector come from elsewhere.
func (w *Workload) ServedBy(s *corev1.Service) bool {
	rest := Uncut(s)
	if len(rest) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName {
		return false
	}
	return slices.ContainsFunc(w.memberLabels(), func(member labels.Set) bool { return labels.SelectorFromSet(rest).Matches(member) })
}

// has reports whether a pod is one of the members.
func (w *Workload) has(pod *corev1.Pod) bool {
	return slices.ContainsFunc(w.Pods, func(p *corev1.Pod) bool { return p.UID == pod.UID })
}

// replicas returns the number from which the disruption controller subtracts maxUnavailable.
func (w *Workload) replicas() int {
	if w.StatefulSet == nil {
		return int(w.owner.Replicas)
	}
	n := 0
	for _, sts := range w.Sets() {
		n += owner.ReplicasOf(sts)
	}
	return n
}

// ordinalOf returns the StatefulSet of a pod by its name, and the pod's number in it from 0, which is
// negative before the first ordinal. It returns nil for any other pod.
func (w *Workload) ordinalOf(pod string) (*appsv1.StatefulSet, int) {
	for _, sts := range w.Sets() {
		at := owner.OrdinalOf(pod, sts.Name, 0)
		if at < 0 {
			continue
		}
		return sts, at - owner.FirstOrdinal(sts.Spec.Ordinals)
	}
	return nil, 0
}
