// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const budgetHandler = "poddisruptionbudget"

// The reasons of decisions on budgets that are not the rule's.
const (
	reasonOwnWrite    = "OwnWrite"
	reasonGoing       = "Going"
	reasonDisruption  = "DisruptionDisabled"
	reasonAnotherKept = "AnotherBudgetKept"
)

// PodDisruptionBudget keeps the budget of an etcd cluster from being loosened
// by whoever writes it: what comes out is the stricter of what is due and what
// was in force, in the field that the writer chose. What the writer asked for
// is noted on the budget, to be restored when the policy goes.
//
// The controller loosens and keeps time; it writes as self and is let through.
func PodDisruptionBudget(r *observe.Reader, self string) admission.HandlerFunc {
	return func(ctx context.Context, req admission.Request) admission.Response {
		ctx, cancel := context.WithTimeout(ctx, budgetPatience)
		defer cancel()
		d := decision{outcome: ignored, reason: reasonOwnWrite}
		if self == "" || req.UserInfo.Username != self {
			d = keepBudget(ctx, r, req)
		}
		d.handler = budgetHandler
		return respond(d)
	}
}

// write is somebody's write of a budget.
type write struct {
	budget *policyv1.PodDisruptionBudget
	// old is what was there before, nil when it is created.
	old *policyv1.PodDisruptionBudget
	// left is the field with our number that the writer can't have meant; see disown.
	left observe.BudgetField
}

func keepBudget(ctx context.Context, r *observe.Reader, req admission.Request) decision {
	w, err := readBudget(req)
	if err != nil {
		return unreadable("budget", req, err)
	}
	if w.budget.DeletionTimestamp != nil {
		return decision{outcome: ignored, reason: reasonGoing}
	}
	owners, err := r.OwnersOfBudget(ctx, w.budget)
	if err != nil {
		return unobserved("budget", req, err)
	}
	if len(owners) == 0 {
		return decision{outcome: ignored, reason: reasonNotEtcd}
	}
	owner := owners[0]
	match, err := r.PolicyFor(ctx, owner)
	if err != nil {
		return unobserved("budget", req, err)
	}
	if d, none := noPolicy(match, owner); none {
		return d
	}
	if !match.Policy.Spec.Disruption.On() {
		return decision{outcome: ignored, reason: reasonDisruption}
	}
	facts, err := r.FactsAs(ctx, owner, w.budget)
	if err != nil {
		return unobserved("budget", req, err)
	}
	d := w.keep(owner, facts, match.Policy)
	d.policy = match.Policy.Name
	return d
}

func readBudget(req admission.Request) (write, error) {
	w := write{budget: &policyv1.PodDisruptionBudget{}}
	if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, w.budget); err != nil {
		return w, err
	}
	w.budget.Namespace = req.Namespace
	if len(req.OldObject.Raw) > 0 {
		w.old = &policyv1.PodDisruptionBudget{}
		if err := json.UnmarshalCaseSensitivePreserveInts(req.OldObject.Raw, w.old); err != nil {
			return w, err
		}
		w.disown()
	}
	return w, nil
}

// disown drops our own number where the writer has put the other field beside it: an
// author who applies on the server's side goes over from one field to the other, and the
// one that we have written stays. The API server refuses both.
func (w *write) disown() {
	ours, recorded := observe.ParseBudgetValue(w.old.Annotations[v1alpha1.BudgetValueAnnotation])
	was, problem := observe.ValueOf(w.old.Name, &w.old.Spec)
	spec := &w.budget.Spec
	if !recorded || problem != nil || was != ours || spec.MinAvailable == nil || spec.MaxUnavailable == nil {
		return
	}
	field := &spec.MinAvailable
	if ours.Field == observe.MaxUnavailable {
		field = &spec.MaxUnavailable
	}
	if **field == intstr.FromInt(ours.N) {
		*field, w.left = nil, ours.Field
	}
}

// keep decides what becomes of the write.
func (w *write) keep(owner observe.Owner, facts observe.Facts, p *v1alpha1.EtcdTopologyPolicy) decision {
	b := facts.Budgets
	if b.Problem != nil {
		return decision{outcome: warned, reason: b.Problem.Reason, warnings: []string{b.Problem.Message}}
	}
	if b.Kept == nil || b.Kept.Name != w.budget.Name {
		return decision{outcome: unchanged, reason: reasonAnotherKept}
	}
	wrote := b.Kept.Value
	current, before := w.inForce(facts)
	verdict := policy.Budget(policy.BudgetFacts{
		Cluster: facts.Cluster, Current: current, State: before.State, Now: facts.At,
	}, observe.BudgetSettings(p))
	due := wrote.WithMin(max(verdict.Target, current), facts.Replicas)
	if p.Spec.Mode == v1alpha1.ModeWarn {
		return wouldKeep(w.budget.Name, p.Name, wrote, due, verdict)
	}
	after := before
	after.For, after.Original = owner.Ref(), new(w.original(before, wrote, facts))
	if after.Value == nil || *after.Value != due {
		after.Value, after.Reason = &due, verdict.Reason
	}
	return w.set(wrote, after, verdict, p.Name)
}

// inForce is the minAvailable in force before the write, -1 where there was
// none to speak of, and what the budget remembered.
func (w *write) inForce(facts observe.Facts) (int, observe.BudgetRecord) {
	if w.old == nil {
		// Whoever copies a budget copies our annotations: its timers are not
		// those of this one.
		return -1, observe.BudgetRecord{}
	}
	before := observe.DecodeBudgetRecord(w.old.Annotations, facts.At)
	value, problem := observe.ValueOf(w.old.Name, &w.old.Spec)
	if problem != nil {
		return -1, before
	}
	return value.Min(facts.Replicas), before
}

// original is what the budget's author asks for. A write that leaves our own
// number as it was asks for nothing new: somebody adds a label, or the API
// server calls again after another webhook changed something.
func (w *write) original(before observe.BudgetRecord, wrote observe.BudgetValue, facts observe.Facts) observe.BudgetValue {
	now := observe.DecodeBudgetRecord(w.budget.Annotations, facts.At)
	if now.Original != nil && now.Value != nil && *now.Value == wrote {
		return *now.Original
	}
	if w.old != nil && before.Original != nil {
		if was, problem := observe.ValueOf(w.old.Name, &w.old.Spec); problem == nil && was == wrote {
			return *before.Original
		}
	}
	return wrote
}

// set makes the patch.
func (w *write) set(wrote observe.BudgetValue, record observe.BudgetRecord, v policy.BudgetVerdict, policyName string) decision {
	d := decision{outcome: unchanged, reason: v.Reason}
	d.patch = budgetPatch(w.budget, wrote, record)
	if w.left != "" {
		d.patch = append(d.patch, jsonpatch.NewOperation("remove", "/spec/"+string(w.left), nil))
	}
	if len(d.patch) > 0 {
		d.outcome = patched
	}
	if wrote != *record.Value {
		d.warnings = append(d.warnings, fmt.Sprintf("EtcdTopologyPolicy %s keeps budget %s at %s, not %s: %s",
			policyName, w.budget.Name, record.Value, wrote, v.Message))
	}
	return d
}
