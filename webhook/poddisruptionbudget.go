// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"slices"

	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// budgetHandler keeps writes from loosening the disruption budget of an etcd cluster. The
// budget gets the stricter of the value that is due and the value that was in force, in
// the field that the author chose. An annotation keeps the value that the author asked for,
// which is restored when the policy goes. A budget that is being deleted is judged as any other: the
// API server admits evictions by it until its finalizers are gone.
//
// Only the controller loosens a budget and ends holds. It writes as self.
type budgetHandler struct {
	reader *observe.Reader
	self   string
}

// budgetReview is what is known of a write of a cluster's budget.
type budgetReview struct {
	write  budgetWrite
	owner  owner.Owner
	policy *v1alpha1.EtcdTopologyPolicy
	facts  observe.Facts
	// other is the budget if it can't protect the cluster alone, and shared what is known
	// of it; nil if it can.
	other  *observe.Other
	shared budget.SharedFacts
	// unkept is the Decision on a budget that no policy keeps, nil while one does. A budget
	// that was kept until now is held until the controller releases it.
	unkept *Decision
}

func (h *budgetHandler) decide(ctx context.Context, req admission.Request) Decision {
	review, d := h.observe(ctx, req)
	if review != nil {
		d = review.decide()
	}
	if len(d.Patch) == 0 && !isSelf(req, h.self) {
		return withoutForgedSize(d, req)
	}
	return d
}

// observe reads what the budget rule must know. It returns nil and a Decision for a write
// that the rule is not asked about.
func (h *budgetHandler) observe(ctx context.Context, req admission.Request) (*budgetReview, Decision) {
	// The controller's own write.
	if isSelf(req, h.self) {
		return nil, Decision{Outcome: Ignored, Reason: reasons.OwnWrite}
	}
	w, err := readBudgetWrite(req)
	if err != nil {
		return nil, unreadable("budget", req, err)
	}
	owners, err := h.reader.OwnersOfBudget(ctx, w.budget)
	if err != nil {
		return nil, w.unobserved(req, err)
	}
	// A budget that selects no members.
	if len(owners) == 0 {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NotEtcd}
	}
	keeper := h.keeperOf(ctx, &w, owners, req)
	if keeper.policy == nil {
		return nil, keeper.decision
	}
	review := &budgetReview{write: w, owner: keeper.owner, policy: keeper.policy, unkept: keeper.unkept}
	return h.readFacts(ctx, review, req)
}

// readFacts completes a review. It returns nil and a Decision for a budget that can't be kept.
func (h *budgetHandler) readFacts(ctx context.Context, review *budgetReview, req admission.Request) (*budgetReview, Decision) {
	w, p := &review.write, review.policy
	as := w.withOldRecord()
	reader := h.reader.Remembering()
	facts, err := reader.FactsAs(ctx, review.owner, as)
	if err != nil {
		return nil, w.unobserved(req, err)
	}
	b := facts.Budgets
	review.facts = facts
	// A budget that can't protect the cluster alone.
	if i := slices.IndexFunc(b.Others, func(o observe.Other) bool { return o.Name == w.budget.Name && !o.Unreadable }); i >= 0 {
		review.other = &b.Others[i]
		if review.shared, err = reader.SharedFacts(ctx, facts, review.other, as); err != nil {
			return nil, w.unobserved(req, err)
		}
		return review, Decision{}
	}
	// Budgets that can't be kept as they are.
	if b.Problem != nil {
		return nil, Decision{Outcome: Warned, Reason: b.Problem.Reason, Policy: p.Name, Warnings: []string{b.Problem.Message}}
	}
	// A cluster for which another budget is kept.
	if b.Managed == nil || b.Managed.Name != w.budget.Name {
		return nil, Decision{Outcome: Unchanged, Reason: reasons.AnotherBudgetKept, Policy: p.Name}
	}
	return review, Decision{}
}

// decide asks the budget rule and answers with a patch, or with a preview in mode Warn.
func (r *budgetReview) decide() Decision {
	if r.other != nil {
		return r.decideOther()
	}
	wrote := r.facts.Budgets.Managed.Value
	current, before := r.write.inForce(r.facts.Replicas, r.facts.At)
	current, before = r.facts.Budgets.InForce(current, before, r.facts.Budgets.NonMemberPods)
	original := r.write.original(before, wrote, r.facts.At)
	if r.facts.Budgets.Managed.NoNumber { // the number is ours, and no author's
		original = before.Original
	}
	verdict := budget.Evaluate(budget.Facts{
		Cluster: r.facts.Cluster, Current: current, Floor: floorOf(original, r.facts.Replicas), Hold: r.unkept != nil, State: before.State, Now: r.facts.At,
	}, topologypolicy.BudgetSettings(r.policy))
	due := wrote.WithMin(max(verdict.Target, current), r.facts.Replicas)
	if r.unkept == nil && r.policy.Spec.Mode == v1alpha1.ModeWarn {
		return r.previewBudget(wrote, due, verdict)
	}
	record := withValue(before, original, due, verdict)
	record.HandTo(r.owner.Ref(), r.owner.Continues(record.For))
	return r.patchFor(wrote, record, verdict)
}

// floorOf returns the minAvailable that the budget's author asks for, 0 for none.
func floorOf(original *annotation.BudgetValue, replicas int) int {
	if original == nil {
		return 0
	}
	return original.Min(replicas)
}

// withValue returns a record with the author's value, and the one that is due with its reason.
func withValue(record annotation.BudgetRecord, original *annotation.BudgetValue, due annotation.BudgetValue, v budget.Result) annotation.BudgetRecord {
	record.Original = original
	if record.Value == nil || *record.Value != due {
		record.Value = &due
		if v.MinAvailable == v.Target || record.Reason == "" {
			record.Reason = v.Reason.Name()
		}
	}
	return record
}

// previewBudget returns the warning of a policy in mode Warn, which changes nothing.
func (r *budgetReview) previewBudget(wrote, due annotation.BudgetValue, v budget.Result) Decision {
	d := Decision{Outcome: Warned, Reason: reasons.PolicyWarns, Policy: r.policy.Name}
	if wrote == due {
		d.Outcome = Unchanged
		return d
	}
	d.Warnings = []string{fmt.Sprintf("EtcdTopologyPolicy %s (mode Warn): budget %s would be kept at %s, not %s: %s",
		r.policy.Name, r.write.budget.Name, due, wrote, v.Message)}
	return d
}

// patchFor returns the patch that gives the budget the record and its value.
func (r *budgetReview) patchFor(wrote annotation.BudgetValue, record annotation.BudgetRecord, v budget.Result) Decision {
	d := Decision{Outcome: Unchanged, Reason: v.Reason, Policy: r.policy.Name, Patch: r.write.patch(wrote, record)}
	if b := r.facts.Budgets.Managed; r.other == nil && b.NoNumber && wrote == *record.Value {
		d.Patch = append(d.Patch, jsonpatch.NewOperation("add", "/spec/"+string(wrote.Field), wrote.N))
	}
	if r.write.dropped != "" {
		d.Patch = append(d.Patch, jsonpatch.NewOperation("remove", "/spec/"+string(r.write.dropped), nil))
	}
	if len(d.Patch) > 0 {
		d.Outcome = Patched
	}
	if r.unkept != nil {
		d.Warnings = append(d.Warnings, r.unkept.Warnings...)
	}
	if r.other == nil {
		d.Warnings = append(d.Warnings, r.otherWarnings()...)
	}
	switch {
	case wrote == *record.Value:
	case r.unkept != nil:
		d.Warnings = append(d.Warnings, fmt.Sprintf("no EtcdTopologyPolicy keeps budget %s any more (%s), and until it is released it stays at %s, not %s: %s",
			r.write.budget.Name, r.unkept.Reason, record.Value, wrote, v.Message))
	default:
		d.Warnings = append(d.Warnings, fmt.Sprintf("EtcdTopologyPolicy %s keeps budget %s at %s, not %s: %s",
			r.policy.Name, r.write.budget.Name, record.Value, wrote, v.Message))
	}
	return d
}
