// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// decideOther answers the write of a budget that can't protect the cluster alone. It becomes
// no looser than what is due of the pods that it selects. Without need it isn't changed, and
// a warning reports what is wrong with it.
func (r *budgetReview) decideOther() Decision {
	wrote, expected := r.other.Value, r.other.Expected
	warnings := r.otherWarnings()
	current, before := r.write.inForce(expected, r.facts.At)
	f := r.shared
	original := r.write.original(before, wrote, r.facts.At)
	f.Floor = floorOf(original, expected)
	if r.other.Fault == nil {
		current, before = r.facts.Budgets.InForce(current, before, r.other.NonMembers)
	}
	f.Current, f.State, f.Hold = current, before.State, f.Hold || r.unkept != nil
	verdict := budget.EvaluateShared(f, topologypolicy.BudgetSettings(r.policy))
	least := max(verdict.Target, current)
	unchanged := Decision{Outcome: Warned, Reason: r.otherReason(), Policy: r.policy.Name, Warnings: warnings}
	if r.unkept == nil && r.policy.Spec.Mode == v1alpha1.ModeWarn || before.For == "" && wrote.Min(expected) >= least {
		return unchanged
	}
	due := wrote.WithMin(max(least, wrote.Min(expected)), expected)
	record := withValue(before, original, due, verdict)
	record.For = cmp.Or(record.For, r.owner.Ref())
	d := r.patchFor(wrote, record, verdict)
	d.Warnings = append(d.Warnings, warnings...)
	return d
}

// otherWarnings returns what is wrong with the budgets of the cluster.
func (r *budgetReview) otherWarnings() []string {
	var out []string
	if p := r.facts.Budgets.Problem; p != nil {
		out = append(out, p.Message)
	}
	for _, n := range r.facts.Budgets.Notes {
		out = append(out, n.Message)
	}
	return out
}

// otherReason returns the reason of the first of them.
func (r *budgetReview) otherReason() policy.Reason {
	if p := r.facts.Budgets.Problem; p != nil {
		return p.Reason
	}
	if notes := r.facts.Budgets.Notes; len(notes) > 0 {
		return notes[0].Reason
	}
	return reasons.AnotherBudgetKept
}
