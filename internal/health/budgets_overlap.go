// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
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
	var rest, gone, broad []string
	for _, b := range all {
		switch {
		case b.Name == keep.Name:
			continue
		case f.coversOthers(&b):
			broad = append(broad, b.Name)
		default:
			gone = append(gone, b.Name)
		}
		rest = append(rest, b.Name)
	}
	return []Finding{failure(f.leaveOne(gone, broad),
		"budgets %s and %s select the same pods: every eviction of them fails with an internal error", keep.Name, policy.List(rest))}
}

// leaveOne is the command that deletes some budgets and narrows the selector of others,
// which also protect pods of others.
func (f *Facts) leaveOne(gone, broad []string) string {
	var steps []string
	if len(gone) > 0 {
		steps = append(steps, f.kubectl("delete poddisruptionbudget "+strings.Join(gone, " ")))
	}
	for _, name := range broad {
		steps = append(steps, f.kubectl("edit poddisruptionbudget "+name))
	}
	return strings.Join(steps, " && ")
}

// overlapping are the budgets that select the same member as another budget.
func (f *Facts) overlapping() []policyv1.PodDisruptionBudget {
	if len(f.Pods.Value) == 0 && len(f.Selecting.Value) > 1 {
		return f.Selecting.Value // all select the one pod that is created next
	}
	alone := func(b policyv1.PodDisruptionBudget) bool {
		return !slices.ContainsFunc(f.Pods.Value, func(pod *corev1.Pod) bool {
			return Selects(&b, pod) && slices.ContainsFunc(f.Selecting.Value, func(other policyv1.PodDisruptionBudget) bool {
				return other.Name != b.Name && Selects(&other, pod)
			})
		})
	}
	return slices.DeleteFunc(slices.Clone(f.Selecting.Value), alone)
}

// Selects reports whether a budget selects a pod. An invalid selector selects nothing.
func Selects(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// coversOthers reports whether a budget also protects pods of others, now or as soon as
// there are any. A budget that an operator made is right for its cluster: the pods of its
// own Jobs may have the members' labels.
func (f *Facts) coversOthers(b *policyv1.PodDisruptionBudget) bool {
	if metav1.GetControllerOf(b) != nil {
		return false
	}
	s := b.Spec.Selector
	return slices.Contains(f.CoversOthers, b.Name) || s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

// rank orders budgets; the lowest is kept. A budget that also selects pods of others comes
// last. Before it the order is by how surely a deleted budget comes back: an operator's, a
// chart's, a person's, ours.
func (f *Facts) rank(b *policyv1.PodDisruptionBudget) int {
	switch {
	case f.coversOthers(b):
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
