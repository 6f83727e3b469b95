// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// budgetWrite is a client's write of a disruption budget.
type budgetWrite struct {
	// budget is the budget as written, without the field dropped.
	budget *policyv1.PodDisruptionBudget
	// old is the budget before the write, nil if the write creates it.
	old *policyv1.PodDisruptionBudget
	// dropped is the field that dropManagedField removed, empty for none.
	dropped annotation.BudgetField
}

func readBudgetWrite(req admission.Request) (budgetWrite, error) {
	w := budgetWrite{budget: &policyv1.PodDisruptionBudget{}}
	if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, w.budget); err != nil {
		return w, err
	}
	w.budget.Namespace = req.Namespace
	if len(req.OldObject.Raw) > 0 {
		w.old = &policyv1.PodDisruptionBudget{}
		if err := json.UnmarshalCaseSensitivePreserveInts(req.OldObject.Raw, w.old); err != nil {
			return w, err
		}
		w.dropManagedField()
	}
	return w, nil
}

// dropManagedField removes this project's field if the author wrote the other one beside
// it. An author who switches between minAvailable and maxUnavailable with server-side apply
// leaves our field in the budget, and the API server rejects a budget with both.
func (w *budgetWrite) dropManagedField() {
	ours, recorded := annotation.ParseBudgetValue(w.old.Annotations[v1alpha1.BudgetValueAnnotation])
	was, problem := annotation.ValueOf(w.old.Name, &w.old.Spec)
	spec := &w.budget.Spec
	if !recorded || problem != nil || was != ours || spec.MinAvailable == nil || spec.MaxUnavailable == nil {
		return
	}
	field := &spec.MinAvailable
	if ours.Field == annotation.MaxUnavailable {
		field = &spec.MaxUnavailable
	}
	if **field == intstr.FromInt(ours.N) {
		*field, w.dropped = nil, ours.Field
	}
}

// withOldRecord returns the budget as written, with our annotations as they were before the write.
// Those that a client writes are not evidence.
func (w *budgetWrite) withOldRecord() *policyv1.PodDisruptionBudget {
	as := w.budget.DeepCopy()
	for _, key := range annotation.BudgetAnnotations() {
		delete(as.Annotations, key)
		if w.old == nil || w.old.Annotations[key] == "" {
			continue
		}
		if as.Annotations == nil {
			as.Annotations = map[string]string{}
		}
		as.Annotations[key] = w.old.Annotations[key]
	}
	return as
}

// forgedSize are the annotations of a record that raise what is due for a cluster, also on a budget that selects none of
// its members. Only the controller writes them.
var forgedSize = []string{v1alpha1.BudgetSizeAnnotation, v1alpha1.BudgetSizeReadAnnotation}

// withoutForgedSize adds to a Decision that leaves the record of a budget as it was written what takes out a size that the
// budget did not have before.
func withoutForgedSize(d Decision, req admission.Request) Decision {
	w, err := readBudgetWrite(req)
	if err != nil {
		return d
	}
	want := map[string]string{}
	var forged []string
	for _, key := range forgedSize {
		if w.budget.Annotations[key] == "" {
			continue
		}
		forged = append(forged, key)
		if w.old != nil && w.old.Annotations[key] != "" {
			want[key] = w.old.Annotations[key]
		}
	}
	if d.Patch = annotationPatch(w.budget.Annotations, want, forged); len(d.Patch) > 0 {
		d.Outcome = Patched
	}
	return d
}

// recordedFor reports whether the budget was kept for an owner before the write.
func (w *budgetWrite) recordedFor(owner owner.Owner) bool {
	return w.old != nil && owner.RefersTo(w.old.Annotations[v1alpha1.BudgetForAnnotation])
}

// inForce returns the minAvailable before the write, -1 for none, and the record of the
// budget before the write.
func (w *budgetWrite) inForce(replicas int, now time.Time) (int, annotation.BudgetRecord) {
	if w.old == nil {
		// A new budget may be a copy with our annotations. The timers in them are those
		// of the budget that was copied.
		return -1, annotation.BudgetRecord{}
	}
	before := annotation.DecodeBudgetRecord(w.old.Annotations, now)
	value, problem := annotation.ValueOf(w.old.Name, &w.old.Spec)
	if problem != nil {
		return -1, before
	}
	return value.Min(replicas), before
}

// original returns the value that the budget's author asks for, nil if there is no author: this project created the
// budget, and its number is ours. A write that leaves our value as it was asks for nothing new: a client adds a label,
// or the API server calls again after another webhook changed the budget.
func (w *budgetWrite) original(before annotation.BudgetRecord, wrote annotation.BudgetValue, now time.Time) *annotation.BudgetValue {
	written := annotation.DecodeBudgetRecord(w.budget.Annotations, now)
	if isOurs(written, wrote) && (written.Original != nil || observe.NotCopied(w.budget)) {
		return written.Original
	}
	if w.old == nil {
		return &wrote
	}
	if was, problem := annotation.ValueOf(w.old.Name, &w.old.Spec); problem != nil || was != wrote {
		return &wrote
	}
	if before.Original != nil || isOurs(before, wrote) && observe.NotCopied(w.old) {
		return before.Original
	}
	return &wrote
}

// isOurs reports whether a value is the one that this project set last.
func isOurs(record annotation.BudgetRecord, value annotation.BudgetValue) bool {
	return record.Value != nil && *record.Value == value
}
