// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// valueOf is what a budget comes to for so many members, and as its spec has it.
// Kubernetes takes a percentage of the StatefulSet's replicas and rounds up, whichever
// field it is in (pkg/controller/disruption/disruption.go, getExpectedPodCount). False
// where the spec says nothing of this cluster's members.
func valueOf(b *policyv1.PodDisruptionBudget, members int) (value observe.BudgetValue, says string, known bool) {
	_, problem := observe.ValueOf(b.Name, &b.Spec)
	if problem != nil && problem.Reason != observe.BudgetPercentage && problem.Reason != observe.BudgetAlwaysAllow {
		return value, "", false
	}
	field, n := observe.MinAvailable, b.Spec.MinAvailable
	if b.Spec.MaxUnavailable != nil {
		field, n = observe.MaxUnavailable, b.Spec.MaxUnavailable
	}
	count, err := intstr.GetScaledValueFromIntOrPercent(n, members, true)
	return observe.BudgetValue{Field: field, N: count}, fmt.Sprintf("%s=%s", field, n), err == nil
}

// percentage is what to make of a budget that says one: as long as it keeps a quorum
// it is only not looked after.
func (f *Facts) percentage(b *policyv1.PodDisruptionBudget, fix string) Finding {
	n := f.size()
	value, says, known := valueOf(b, n)
	switch {
	case !known:
		return warning(fix, "budget %s: %s is no percentage that Kubernetes knows", b.Name, says)
	case value.Min(n) < policy.Quorum(n):
		return warning(fix, "budget %s: %s is a percentage and keeps %d of %d members; use an integer", b.Name, says, value.Min(n), n)
	}
	return info(fix, "budget %s: %s is a percentage, which etcd-webhook leaves alone; it keeps %d of %d members", b.Name, says, value.Min(n), n)
}
