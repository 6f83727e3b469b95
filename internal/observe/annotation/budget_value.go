// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"fmt"
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// BudgetField is the field of a budget that limits evictions.
type BudgetField string

// The fields, named as in the object.
const (
	MinAvailable   BudgetField = "minAvailable"
	MaxUnavailable BudgetField = "maxUnavailable"
)

// BudgetValue is an integer in one of a budget's two fields.
type BudgetValue struct {
	Field BudgetField
	N     int
}

// String returns the value as in annotations and messages: minAvailable=2.
func (v BudgetValue) String() string { return fmt.Sprintf("%s=%d", v.Field, v.N) }

// ParseBudgetValue is the reverse of String. It returns false for any other text.
func ParseBudgetValue(s string) (BudgetValue, bool) {
	field, number, _ := strings.Cut(s, "=")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 || (field != string(MinAvailable) && field != string(MaxUnavailable)) {
		return BudgetValue{}, false
	}
	return BudgetValue{Field: BudgetField(field), N: int(n)}, true
}

// Min returns the minAvailable that the value is equal to for a workload of so many replicas, as
// the disruption controller computes it.
func (v BudgetValue) Min(replicas int) int {
	if v.Field == MaxUnavailable {
		return max(0, replicas-v.N)
	}
	return v.N
}

// WithMin returns the value of the same field that is equal to minimum. maxUnavailable can't
// express a minimum above replicas: at 0 it protects all pods that are expected.
func (v BudgetValue) WithMin(minimum, replicas int) BudgetValue {
	if v.Field == MaxUnavailable {
		return BudgetValue{Field: MaxUnavailable, N: max(0, replicas-minimum)}
	}
	return BudgetValue{Field: MinAvailable, N: minimum}
}

// ValueOf returns the value of a budget's spec, or why this project can't set one in it. It checks
// the spec only, and not whether the budget belongs to a cluster.
func ValueOf(name string, spec *policyv1.PodDisruptionBudgetSpec) (BudgetValue, *policy.Note) {
	left := func(reason policy.Reason, format string, args ...any) (BudgetValue, *policy.Note) {
		return BudgetValue{}, &policy.Note{Reason: reason, Message: "budget " + name + " is left alone: " + fmt.Sprintf(format, args...)}
	}
	least, most := spec.MinAvailable, spec.MaxUnavailable
	switch s := spec.Selector; {
	case s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0:
		return left(reasons.BudgetSelectsAll, "its selector is empty and covers every pod of the namespace; give it the labels of the cluster's members")
	case least != nil && most != nil:
		return left(reasons.BudgetBothFields, "it has both minAvailable %s and maxUnavailable %s; keep one of them", least.String(), most.String())
	case least == nil && most == nil:
		return left(reasons.BudgetNoField, "it has neither minAvailable nor maxUnavailable, so it keeps nothing; give it one of them as an integer")
	}
	if p := spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		return left(reasons.BudgetAlwaysAllow, "unhealthyPodEvictionPolicy AlwaysAllow lets every unready member go at once, whatever the numbers; IfHealthyBudget lets them go while quorum is kept")
	}
	field, n := MinAvailable, least
	if most != nil {
		field, n = MaxUnavailable, most
	}
	if n.Type == intstr.String {
		return left(reasons.BudgetPercentage, "%s %s is a percentage, which Kubernetes rounds up: it means another number at every size; use an integer", field, n.StrVal)
	}
	return BudgetValue{Field: field, N: n.IntValue()}, nil
}
