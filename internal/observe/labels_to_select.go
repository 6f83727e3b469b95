// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// labelsToSelect returns the labels of the members that a budget must select: those of the pods that exist, and
// those that each missing pod will have. Pods that no StatefulSet made beside those of StatefulSets are not among
// them: the manager doesn't know those, so the budget that it writes is that of the StatefulSets, and counts the
// others as down. size is a size that the cluster may return to: if the owner asks for fewer members, each
// StatefulSet may get so many. 0 counts the replicas only.
func (w *Workload) labelsToSelect(size int) []labels.Set {
	var out []labels.Set
	for _, pod := range w.Pods {
		if !w.owner.IsBeside(pod.Name) {
			out = append(out, pod.Labels)
		}
	}
	out = append(out, w.missingLabels(size)...)
	if len(out) == 0 {
		return w.memberLabels()
	}
	return out
}

// missingLabels returns the labels of the StatefulSets' pods that do not exist.
func (w *Workload) missingLabels(size int) []labels.Set {
	if w.owner.WithoutStatefulSet() {
		return nil
	}
	asked := w.replicas()
	if size <= asked {
		size = 0
	}
	if w.StatefulSet == nil {
		return w.labelsBeforeStatefulSet(max(asked, size))
	}
	var out []labels.Set
	for _, sts := range w.Sets() {
		for i := range min(max(owner.ReplicasOf(sts), size), owner.MaxMembersRead) {
			if set := owner.PodLabels(sts, i); !w.hasPod(set[appsv1.StatefulSetPodNameLabel]) {
				out = append(out, set)
			}
		}
	}
	return out
}

// labelsBeforeStatefulSet returns the labels of the first n pods of a StatefulSet that doesn't exist yet.
func (w *Workload) labelsBeforeStatefulSet(n int) []labels.Set {
	var out []labels.Set
	for i := range min(n, owner.MaxMembersRead) {
		set := maps.Clone(w.nextLabels())
		set[appsv1.StatefulSetPodNameLabel] = w.owner.PodName(i)
		out = append(out, set)
	}
	return out
}

func (w *Workload) hasPod(name string) bool {
	return slices.ContainsFunc(w.Pods, func(p *corev1.Pod) bool { return p.Name == name })
}
