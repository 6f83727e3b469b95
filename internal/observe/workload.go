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

// workload is the objects of an owner's cluster. They are objects of the cache, which must not be
// changed.
type workload struct {
	owner owner.Owner
	// etcd is nil for a cluster that isn't druid's.
	etcd *druidv1alpha1.Etcd
	// sts is nil while it doesn't exist.
	sts *appsv1.StatefulSet
	// rest are the other StatefulSets of a cluster that spans several.
	rest []*appsv1.StatefulSet
	// pods are the members', in order.
	pods []*corev1.Pod
}

// workload reads the objects of an owner's cluster.
func (r *Reader) workload(ctx context.Context, o owner.Owner) (workload, error) {
	w := workload{owner: o}
	if !o.WithoutStatefulSet() {
		if err := r.readSets(ctx, &w); err != nil || w.sts == nil {
			return w, err
		}
	}
	// A selector doesn't decide: a pod with edited labels is still a member.
	member := func(pod *corev1.Pod) bool {
		if slices.Contains(o.PodsBeside, pod.Name) && owner.CountsAsMember(pod) {
			return true
		}
		return slices.ContainsFunc(w.sets(), func(s *appsv1.StatefulSet) bool { return owner.Made(s, pod) })
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
			w.pods = append(w.pods, w.declared(&pods[i]))
		}
	}
	slices.SortFunc(w.pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(o.Ordinal(a.Name), o.Ordinal(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return w, nil
}

// readSets reads the Etcd and the StatefulSets of a cluster. It leaves out the StatefulSet if that
// of its name has another owner.
func (r *Reader) readSets(ctx context.Context, w *workload) error {
	o := w.owner
	if o.OfDruid() {
		var etcd druidv1alpha1.Etcd
		found, err := r.Fetch(ctx, o.Namespace, o.Name, &etcd)
		if err != nil {
			return fmt.Errorf("observe %s: %w", o, err)
		}
		if found {
			w.etcd = &etcd
		}
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, o.Namespace, o.StatefulSet, &sts)
	if err != nil {
		return fmt.Errorf("observe StatefulSet %s/%s: %w", o.Namespace, o.StatefulSet, err)
	}
	if ref := metav1.GetControllerOfNoCopy(&sts); !found || w.etcd != nil && (ref == nil || ref.UID != w.etcd.UID) {
		return nil
	}
	w.sts = &sts
	return r.readRest(ctx, w)
}

// readRest reads the other StatefulSets of a cluster that spans several. One that has just been
// deleted has no pods that would come back.
func (r *Reader) readRest(ctx context.Context, w *workload) error {
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

// sets returns the StatefulSets of the cluster that exist.
func (w *workload) sets() []*appsv1.StatefulSet {
	if w.sts == nil {
		return nil
	}
	return append([]*appsv1.StatefulSet{w.sts}, w.rest...)
}

// memberLabels returns the labels of the members' pods. Where there is no pod yet, it returns those
// that the next one will have.
func (w *workload) memberLabels() []labels.Set {
	var out []labels.Set
	if len(w.pods) == 0 {
		out = append(out, w.nextLabels())
		for _, sts := range w.rest {
			out = append(out, templateLabels(sts))
		}
		return out
	}
	for _, pod := range w.pods {
		out = append(out, pod.Labels)
	}
	return out
}

func (w *workload) nextLabels() labels.Set {
	next := labels.Set{}
	switch {
	case w.owner.WithoutStatefulSet():
		if len(w.pods) > 0 {
			maps.Copy(next, w.pods[0].Labels)
		}
		return next
	case w.sts != nil:
		return templateLabels(w.sts)
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

// templateLabels returns the labels of a StatefulSet's first pod.
func templateLabels(sts *appsv1.StatefulSet) labels.Set {
	next := labels.Set{}
	maps.Copy(next, sts.Spec.Template.Labels)
	next[appsv1.StatefulSetPodNameLabel] = owner.OfStatefulSet(sts).PodName(0)
	return next
}

// has reports whether a pod is one of the members.
func (w *workload) has(pod *corev1.Pod) bool {
	return slices.ContainsFunc(w.pods, func(p *corev1.Pod) bool { return p.UID == pod.UID })
}

// replicas returns the number from which the disruption controller subtracts maxUnavailable.
func (w *workload) replicas() int {
	if w.sts == nil {
		return int(w.owner.Replicas)
	}
	n := 0
	for _, sts := range w.sets() {
		n += replicasOf(sts)
	}
	return n
}

// ordinalOf returns the StatefulSet of a pod by its name, and the pod's number in it from 0, which is
// negative before the first ordinal. It returns nil for any other pod.
func (w *workload) ordinalOf(pod string) (*appsv1.StatefulSet, int) {
	for _, sts := range w.sets() {
		at := owner.OrdinalOf(pod, sts.Name, 0)
		if at < 0 {
			continue
		}
		if sts.Spec.Ordinals != nil {
			at -= int(sts.Spec.Ordinals.Start)
		}
		return sts, at
	}
	return nil, 0
}

// replicasOf returns how many pods a StatefulSet has when it is complete. 1 is the API's default.
func replicasOf(sts *appsv1.StatefulSet) int {
	if sts.Spec.Replicas == nil {
		return 1
	}
	return int(*sts.Spec.Replicas)
}
