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
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// BudgetField is the field of a budget that limits evictions.
type BudgetField string

// The fields, named as in the object.
const (
	MinAvailable   BudgetField = "minAvailable"
	MaxUnavailable BudgetField = "maxUnavailable"
)

// BudgetValue is what stands in one of a budget's two fields: a number of pods, or a
// percentage of the replicas.
type BudgetValue struct {
	Field BudgetField
	N     int
	// Percent is true if N is a percentage. We write none, but an author may have.
	Percent bool
}

// String returns the value as annotations and messages have it: minAvailable=2, or minAvailable=51%.
func (v BudgetValue) String() string {
	if v.Percent {
		return fmt.Sprintf("%s=%d%%", v.Field, v.N)
	}
	return fmt.Sprintf("%s=%d", v.Field, v.N)
}

// IntOrString returns the value as the object has it.
func (v BudgetValue) IntOrString() intstr.IntOrString {
	if v.Percent {
		return intstr.FromString(strconv.Itoa(v.N) + "%")
	}
	return intstr.FromInt(v.N)
}

// ParseBudgetValue returns the reverse of String. It returns false for any other text.
func ParseBudgetValue(s string) (BudgetValue, bool) {
	field, number, _ := strings.Cut(s, "=")
	number, percent := strings.CutSuffix(number, "%")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 || percent && n > 100 || (field != string(MinAvailable) && field != string(MaxUnavailable)) {
		return BudgetValue{}, false
	}
	return BudgetValue{Field: BudgetField(field), N: int(n), Percent: percent}, true
}

// Min returns the minAvailable that the value is equal to for a workload of so many
// replicas, as the disruption controller computes it: it rounds a percentage up.
func (v BudgetValue) Min(replicas int) int {
	n := v.N
	if v.Percent {
		n = (v.N*replicas + 99) / 100
	}
	if v.Field == MaxUnavailable {
		return max(0, replicas-n)
	}
	return n
}

// WithMin returns the value of the same field that is equal to minimum. maxUnavailable can't
// express a minimum above replicas: at 0 it protects all pods that are expected.
func (v BudgetValue) WithMin(minimum, replicas int) BudgetValue {
	if v.Field == MaxUnavailable {
		return BudgetValue{Field: MaxUnavailable, N: budget.AdoptMaxUnavailable(replicas, minimum)}
	}
	return BudgetValue{Field: MinAvailable, N: minimum}
}

// ValueOf returns the value of a budget's spec, or why this project can't set one in it. It checks
// the two fields only.
func ValueOf(name string, spec *policyv1.PodDisruptionBudgetSpec) (BudgetValue, *policy.Note) {
	left := func(reason policy.Reason, format string, args ...any) (BudgetValue, *policy.Note) {
		return BudgetValue{}, &policy.Note{Reason: reason, Message: "budget " + name + " is left alone: " + fmt.Sprintf(format, args...)}
	}
	least, most := spec.MinAvailable, spec.MaxUnavailable
	switch {
	case least != nil && most != nil:
		return left(reasons.BudgetBothFields, "it has both minAvailable %s and maxUnavailable %s; keep one of them", least.String(), most.String())
	case least == nil && most == nil:
		return left(reasons.BudgetNoField, "it has neither minAvailable nor maxUnavailable, so it refuses every eviction of its pods; give it one of them as an integer")
	}
	field, n := MinAvailable, least
	if most != nil {
		field, n = MaxUnavailable, most
	}
	if n.Type == intstr.Int {
		return BudgetValue{Field: field, N: n.IntValue()}, nil
	}
	value, ok := ParseBudgetValue(string(field) + "=" + n.StrVal)
	if !ok || !value.Percent {
		return left(reasons.BudgetPercentage, "%s %s is not a percentage that Kubernetes accepts; use an integer", field, n.StrVal)
	}
	return value, nil
}

// AlwaysAllows returns the note on a budget that lets every unready pod go, nil for others.
func AlwaysAllows(pdb *policyv1.PodDisruptionBudget) *policy.Note {
	if p := pdb.Spec.UnhealthyPodEvictionPolicy; p == nil || *p != policyv1.AlwaysAllow {
		return nil
	}
	return &policy.Note{Reason: reasons.BudgetAlwaysAllow, Message: "budget " + pdb.Name +
		": unhealthyPodEvictionPolicy AlwaysAllow allows the eviction of every unready member at once, whatever the number; with IfHealthyBudget, or without it, they may be evicted while the quorum is kept"}
}

// SelectsNamespace returns the note on a budget with an empty selector, nil for others.
func SelectsNamespace(pdb *policyv1.PodDisruptionBudget) *policy.Note {
	if s := pdb.Spec.Selector; s == nil || len(s.MatchLabels) > 0 || len(s.MatchExpressions) > 0 {
		return nil
	}
	return &policy.Note{Reason: reasons.BudgetSelectsAll, Message: "budget " + pdb.Name +
		" can't protect the members alone: its selector is empty and covers every pod of the namespace; give it the labels of the cluster's members"}
}

// Fault returns what keeps a budget's spec from protecting a cluster alone, nil for nothing. It
// doesn't check the pods.
func Fault(pdb *policyv1.PodDisruptionBudget) *policy.Note {
	if n := SelectsNamespace(pdb); n != nil {
		return n
	}
	if _, n := ValueOf(pdb.Name, &pdb.Spec); n != nil {
		return n
	}
	return AlwaysAllows(pdb)
}
