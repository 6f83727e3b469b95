// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
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
	slices.SortStableFunc(all, f.order)
	var found []Finding
	for len(all) > 0 {
		keep := all[0]
		var others, rest []policyv1.PodDisruptionBudget
		for _, b := range all[1:] {
			if f.share(&keep, &b) {
				others = append(others, b)
			} else {
				rest = append(rest, b)
			}
		}
		if len(others) > 0 {
			found = append(found, f.leave(&keep, others))
		}
		all = rest
	}
	return found
}

// order returns that in which budgets are kept: the one that this project sets, then those that protect
// most members, by rank and age.
func (f *Facts) order(a, b policyv1.PodDisruptionBudget) int {
	kept := func(x *policyv1.PodDisruptionBudget) bool {
		m := f.Budgets.Value.Managed
		return m != nil && m.Name == x.Name
	}
	switch {
	case kept(&a) != kept(&b):
		return first(kept(&a))
	case f.coversOthers(&a) != f.coversOthers(&b):
		return first(!f.coversOthers(&a))
	}
	return cmp.Or(f.selects(&b)-f.selects(&a), f.rank(&a)-f.rank(&b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
}

func first(is bool) int {
	if is {
		return -1
	}
	return 1
}

// selects counts the members that a budget selects.
func (f *Facts) selects(b *policyv1.PodDisruptionBudget) int {
	n := 0
	for _, pod := range f.Pods.Value {
		if Selects(b, pod) {
			n++
		}
	}
	return n
}

// share reports whether two budgets select the same member, or the one that is created next.
func (f *Facts) share(a, b *policyv1.PodDisruptionBudget) bool {
	return len(f.Pods.Value) == 0 || slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool { return Selects(a, p) && Selects(b, p) })
}

// within reports whether a budget selects no member that another one doesn't select.
func (f *Facts) within(b, of *policyv1.PodDisruptionBudget) bool {
	return !slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool { return Selects(b, p) && !Selects(of, p) })
}

// leave returns the finding about budgets that select members of one that is kept. A budget that alone
// protects a pod is not deleted, and none is where it is not known which one protects the members.
func (f *Facts) leave(keep *policyv1.PodDisruptionBudget, others []policyv1.PodDisruptionBudget) Finding {
	var names, gone, narrow []string
	for _, b := range others {
		names = append(names, b.Name)
		if f.coversOthers(&b) || f.Budgets.Err != nil || !f.within(&b, keep) {
			narrow = append(narrow, b.Name)
		} else {
			gone = append(gone, b.Name)
		}
	}
	for _, list := range [][]string{names, gone, narrow} {
		slices.Sort(list)
	}
	if len(names) == 1 {
		return failure(f.leaveOne(gone, narrow), "budgets %s and %s select the same pods: every eviction of them fails with an internal error", keep.Name, names[0])
	}
	return failure(f.leaveOne(gone, narrow), "budget %s selects pods that %s also select: every eviction of them fails with an internal error", keep.Name, policy.List(names))
}

// leaveOne returns the command that deletes some budgets and narrows the selector of others.
func (f *Facts) leaveOne(gone, narrow []string) string {
	var steps []string
	if len(gone) > 0 {
		steps = append(steps, f.kubectl("delete poddisruptionbudget "+strings.Join(gone, " ")))
	}
	for _, name := range narrow {
		steps = append(steps, f.kubectl("edit poddisruptionbudget "+name))
	}
	return strings.Join(steps, " && ")
}

// overlapping returns the budgets that select the same member as another budget.
func (f *Facts) overlapping() []policyv1.PodDisruptionBudget {
	if len(f.Pods.Value) == 0 && len(f.Selecting.Value) > 1 {
		return slices.Clone(f.Selecting.Value) // all select the one pod that is created next
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

// rank orders budgets by how surely a deleted budget comes back: an operator's, a chart's, a
// person's, ours.
func (f *Facts) rank(b *policyv1.PodDisruptionBudget) int {
	switch {
	case observe.Ours(b):
		return 3
	case metav1.GetControllerOf(b) != nil:
		return 0
	case b.Labels["app.kubernetes.io/managed-by"] == "Helm":
		return 1
	}
	return 2
}
