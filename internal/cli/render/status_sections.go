// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func spreadText(s v1alpha1.SpreadStatus) string {
	if s.Message == "" {
		return ""
	}
	state := "unknown"
	switch s.Kept {
	case string(policy.True):
		state = "kept"
	case string(policy.False):
		state = "broken"
	}
	text := state + ": " + s.Message
	switch {
	case s.Policy != "" && s.Wanted != "":
		text += fmt.Sprintf("; policy %s (%s): %s", s.Policy, s.Mode, s.Wanted)
	case s.Policy != "":
		text += fmt.Sprintf("; policy %s (%s)", s.Policy, s.Mode)
	case s.Wanted != "":
		text += "; " + s.Wanted
	default:
		text += "; no policy applies"
	}
	return text
}

func budgetText(b v1alpha1.BudgetStatus) string {
	if b.Reason == reasons.BudgetsUnseen.Name() {
		return "unknown: you may not list disruption budgets"
	}
	if b.Name == "" && b.Reason != "" {
		return "none protects the members (" + b.Reason + ")"
	}
	if b.Name == "" {
		return ""
	}
	text := fmt.Sprintf("%s, %s: %d may be evicted now", b.Name, b.Value, b.Allowed)
	if b.Reason != "" {
		text += "; " + b.Reason
		if b.Message != "" {
			text += ": " + b.Message
		}
		return text
	}
	if b.Message != "" {
		text += "; " + b.Message
	}
	return text
}

// backupText returns the ages of the last backups. unseen means that the user may not list the
// leases that record them.
func backupText(b v1alpha1.Backup, now time.Time, unseen bool) string {
	var parts []string
	for _, kind := range []struct {
		name string
		at   *time.Time
	}{{"full", stdTime(b.Full)}, {"delta", stdTime(b.Delta)}, {"last", stdTime(b.Last)}} {
		if kind.at != nil {
			parts = append(parts, kind.name+" "+format.Since(now, *kind.at)+" ago")
		}
	}
	switch {
	case len(parts) == 0 && unseen:
		parts = []string{"the times are unknown: you may not list leases"}
	case len(parts) == 0 && b.Status == "":
		return "none known"
	case len(parts) == 0:
		parts = []string{"none yet"}
	}
	if b.Status != "" && b.Status != string(policy.True) {
		parts = append(parts, fmt.Sprintf("BackupReady is %s (%s)", b.Status, b.Reason))
	}
	return strings.Join(parts, ", ")
}

// stdTime converts a time of the API, nil to nil.
func stdTime(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}
