// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// BudgetRecord is what the annotations of a disruption budget record.
type BudgetRecord struct {
	// For is the owner whose budget this is, as Kind/name. It is empty for a budget that this
	// project never wrote.
	For string
	// Made is the namespace and name under which this project created the budget. It is empty
	// for a budget of another author.
	Made string
	// Value is what this project last set, in the budget's own field, nil for not recorded.
	// Where the budget has another value, a write has bypassed admission.
	Value *BudgetValue
	// Reason is why this project set Value.
	Reason string
	// Original is what the budget's author last wrote. It is nil where this project created
	// the budget.
	Original *BudgetValue
	// Size is the largest size that the cluster has had.
	Size LargestSize
	// ReleaseSince is since when no policy keeps the budget, zero while one does.
	ReleaseSince time.Time
	State        budget.State
}

// HandTo makes the record that of an owner. The largest size stays only if the owner continues the cluster
// that had it.
func (r *BudgetRecord) HandTo(owner string, continues bool) {
	if !continues {
		r.Size = LargestSize{}
	}
	r.For = owner
}

// BudgetAnnotations returns the keys of a record's annotations.
func BudgetAnnotations() []string {
	return []string{
		v1alpha1.BudgetForAnnotation,
		v1alpha1.BudgetMadeAnnotation,
		v1alpha1.BudgetValueAnnotation,
		v1alpha1.BudgetReasonAnnotation,
		v1alpha1.BudgetOriginalAnnotation,
		v1alpha1.BudgetLooserSinceAnnotation,
		v1alpha1.BudgetHoldSinceAnnotation,
		v1alpha1.BudgetBackupTrueSinceAnnotation,
		v1alpha1.BudgetBackupUnknownSinceAnnotation,
		v1alpha1.BudgetStaleSinceAnnotation,
		v1alpha1.BudgetReleaseSinceAnnotation,
		v1alpha1.BudgetSizeAnnotation,
		v1alpha1.BudgetSizeReadAnnotation,
	}
}

// timeBy reads a time of a record. One that is invalid is zero, and one in the future is now.
func timeBy(text string, now time.Time) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	if t.After(now) {
		return now
	}
	return t
}

// DecodeBudgetRecord reads a record. Anyone may edit annotations, so an invalid value counts as
// absent, and a time in the future counts as now: a timer may start again, but must not end
// early or never.
func DecodeBudgetRecord(annotations map[string]string, now time.Time) BudgetRecord {
	at := func(key string) time.Time { return timeBy(annotations[key], now) }
	r := BudgetRecord{
		For:    annotations[v1alpha1.BudgetForAnnotation],
		Made:   annotations[v1alpha1.BudgetMadeAnnotation],
		Reason: annotations[v1alpha1.BudgetReasonAnnotation],

		Size:         decodeSize(annotations[v1alpha1.BudgetSizeAnnotation], annotations[v1alpha1.BudgetSizeReadAnnotation]),
		ReleaseSince: at(v1alpha1.BudgetReleaseSinceAnnotation),
		State: budget.State{
			LooserSince:        at(v1alpha1.BudgetLooserSinceAnnotation),
			HoldSince:          at(v1alpha1.BudgetHoldSinceAnnotation),
			BackupTrueSince:    at(v1alpha1.BudgetBackupTrueSinceAnnotation),
			BackupUnknownSince: at(v1alpha1.BudgetBackupUnknownSinceAnnotation),
			StaleSince:         at(v1alpha1.BudgetStaleSinceAnnotation),
		},
	}
	if v, ok := ParseBudgetValue(annotations[v1alpha1.BudgetValueAnnotation]); ok {
		r.Value = &v
	}
	if v, ok := ParseBudgetValue(annotations[v1alpha1.BudgetOriginalAnnotation]); ok {
		r.Original = &v
	}
	return r
}

// Encode returns the record as annotations. The caller removes the keys of BudgetAnnotations that
// are not among them. Times are truncated to seconds.
func (r BudgetRecord) Encode() map[string]string {
	out := map[string]string{}
	put := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	at := func(key string, t time.Time) {
		if !t.IsZero() {
			out[key] = t.UTC().Format(time.RFC3339)
		}
	}
	put(v1alpha1.BudgetForAnnotation, r.For)
	put(v1alpha1.BudgetMadeAnnotation, r.Made)
	put(v1alpha1.BudgetReasonAnnotation, r.Reason)
	if r.Size.N > 0 {
		put(v1alpha1.BudgetSizeAnnotation, r.Size.encode())
		put(v1alpha1.BudgetSizeReadAnnotation, r.Size.Read)
	}
	if r.Value != nil {
		out[v1alpha1.BudgetValueAnnotation] = r.Value.String()
	}
	if r.Original != nil {
		put(v1alpha1.BudgetOriginalAnnotation, r.Original.String())
	}
	at(v1alpha1.BudgetLooserSinceAnnotation, r.State.LooserSince)
	at(v1alpha1.BudgetHoldSinceAnnotation, r.State.HoldSince)
	at(v1alpha1.BudgetBackupTrueSinceAnnotation, r.State.BackupTrueSince)
	at(v1alpha1.BudgetBackupUnknownSinceAnnotation, r.State.BackupUnknownSince)
	at(v1alpha1.BudgetStaleSinceAnnotation, r.State.StaleSince)
	at(v1alpha1.BudgetReleaseSinceAnnotation, r.ReleaseSince)
	return out
}
