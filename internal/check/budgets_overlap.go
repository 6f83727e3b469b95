// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

func budgetAlone(f *Facts) []Finding {
	if found, any := f.selecting(); !any {
		return found
	}
	all := f.overlapping()
	if len(all) == 0 {
		return nil
	}
	keep := slices.MinFunc(all, func(a, b policyv1.PodDisruptionBudget) int {
		if ra, rb := f.rank(&a), f.rank(&b); ra != rb {
			return ra - rb
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	var rest, gone, wide []string
	for _, b := range all {
		switch {
		case b.Name == keep.Name:
			continue
		case f.wide(&b):
			wide = append(wide, b.Name)
		default:
			gone = append(gone, b.Name)
		}
		rest = append(rest, b.Name)
	}
	return []Finding{failure(f.leaveOne(gone, wide),
		"budgets %s and %s select the same pods: every eviction of them fails with an internal error", keep.Name, list(rest))}
}

// leaveOne has some budgets deleted, and of others, which protect more than the
// members, the selector narrowed.
func (f *Facts) leaveOne(gone, wide []string) string {
	var steps []string
	if len(gone) > 0 {
		steps = append(steps, f.kubectl("delete poddisruptionbudget "+strings.Join(gone, " ")))
	}
	for _, name := range wide {
		steps = append(steps, f.kubectl("edit poddisruptionbudget "+name))
	}
	return strings.Join(steps, " && ")
}

// overlapping are the budgets that select a member together with another one. Budgets
// of one member each don't.
func (f *Facts) overlapping() []policyv1.PodDisruptionBudget {
	if len(f.Pods.Value) == 0 && len(f.Selecting.Value) > 1 {
		return f.Selecting.Value // all select the one pod that would be made next
	}
	alone := func(b policyv1.PodDisruptionBudget) bool {
		return !slices.ContainsFunc(f.Pods.Value, func(pod *corev1.Pod) bool {
			return selects(&b, pod) && slices.ContainsFunc(f.Selecting.Value, func(other policyv1.PodDisruptionBudget) bool {
				return other.Name != b.Name && selects(&other, pod)
			})
		})
	}
	return slices.DeleteFunc(slices.Clone(f.Selecting.Value), alone)
}

// selects says whether a budget is one of a pod's. An invalid selector selects nothing.
func selects(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// wide says whether a budget protects others than the members, too, now or as soon as
// there are any. What an operator made is right for its cluster: its own jobs' pods may
// have the members' labels.
func (f *Facts) wide(b *policyv1.PodDisruptionBudget) bool {
	if metav1.GetControllerOf(b) != nil {
		return false
	}
	s := b.Spec.Selector
	return slices.Contains(f.Wide, b.Name) || s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// rank says which budget to keep, the least: not one that selects others, too; then
// that of who is most sure to make it again if it goes: an operator, then a chart,
// then anybody, then we.
func (f *Facts) rank(b *policyv1.PodDisruptionBudget) int {
	switch {
	case f.wide(b):
		return 4
	case observe.Ours(b):
		return 3
	case metav1.GetControllerOf(b) != nil:
		return 0
	case b.Labels["app.kubernetes.io/managed-by"] == "Helm":
		return 1
	}
	return 2
}
