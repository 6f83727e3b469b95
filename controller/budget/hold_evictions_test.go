// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// admits is EvictionREST.Create of Kubernetes for one pod, with the status that the
// disruption controller writes for what stands now.
func (m *model) admits(pod *corev1.Pod) bool {
	var of []*policyv1.PodDisruptionBudget
	for _, o := range m.Objects {
		if pdb, ok := o.(*policyv1.PodDisruptionBudget); ok && m.selects(pdb, pod) {
			of = append(of, pdb)
		}
	}
	if len(of) != 1 {
		return len(of) == 0
	}
	pdb := of[0]
	selected, healthy := m.counts(pdb)
	value, problem := annotation.ValueOf(pdb.Name, &pdb.Spec)
	if problem != nil {
		m.t.Fatal(problem.Message)
	}
	desired := value.Min(selected)
	if value.Field == annotation.MaxUnavailable || value.Percent {
		desired = value.Min(m.expected(pdb))
	}
	always := pdb.Spec.UnhealthyPodEvictionPolicy != nil && *pdb.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	if m.down[pod.Name] && (always || healthy >= desired && desired > 0) {
		return true
	}
	return healthy > desired
}

// expected returns the replicas of the controllers of the pods that a budget selects.
func (m *model) expected(pdb *policyv1.PodDisruptionBudget) int {
	replicas := map[string]int32{}
	for _, p := range m.allPods() {
		if ref := metav1.GetControllerOf(p); ref != nil && m.selects(pdb, p) {
			replicas[ref.Name] = *find[*appsv1.StatefulSet](m.stage, ref.Name).Spec.Replicas
		}
	}
	n := 0
	for _, r := range replicas {
		n += int(r)
	}
	return n
}

// counts returns how many pods a budget selects, and how many of them are healthy.
func (m *model) counts(pdb *policyv1.PodDisruptionBudget) (selected, healthy int) {
	for _, p := range m.allPods() {
		if m.selects(pdb, p) {
			selected++
			if !m.down[p.Name] {
				healthy++
			}
		}
	}
	return selected, healthy
}

func (m *model) selects(pdb *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
	if err != nil {
		m.t.Fatal(err)
	}
	return selector.Matches(labels.Set(pod.Labels))
}
