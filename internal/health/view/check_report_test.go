// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// TestCheckFailures: a report in which nothing could be judged is no success, whichever checks were selected.
func TestCheckFailures(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		// checks are IDs with their levels.
		checks string
		want   string
	}{
		{"all OK", "Q001 OK, B001 OK", ""},
		{"a failure", "Q001 OK, B001 Failure", "fails 1 check"},
		{"a warning", "B001 Warning", ""},
		{"one of several is unknown", "Q001 OK, B001 Unknown", ""},
		{"the quorum is unknown", "Q001 Unknown, B001 OK", "1 check is unknown: reason of Q001"},
		{"the only check is unknown", "B001 Unknown", "1 check is unknown: reason of B001"},
		{"all are unknown", "B001 Unknown, P001 Unknown", "2 checks are unknown: reason of B001"},
		{"all that apply are unknown", "D001 NotApplicable, P001 Unknown", "1 check is unknown: reason of P001"},
		{"none applies", "D001 NotApplicable", ""},
		{"none was selected", "", ""},
	} {
		r := v1alpha1.CheckReport{Cluster: v1alpha1.CheckedCluster{Namespace: "team", Target: "etcd/main"}}
		for one := range strings.SplitSeq(row.checks, ", ") {
			id, level, selected := strings.Cut(one, " ")
			if !selected {
				continue
			}
			r.Checks = append(r.Checks, v1alpha1.CheckResult{ID: id, Result: level, Findings: []v1alpha1.CheckFinding{{Level: level, Message: "reason of " + id}}})
			count(&r.Summary, health.Level(level))
		}
		got := strings.Join(CheckFailures([]v1alpha1.CheckReport{r}, nil), "; ")
		if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	if got := CheckFailures(nil, errors.New("what m executes")); len(got) != 1 || !strings.Contains(got[0], "what m executes") {
		t.Errorf("clusters may be missing: %q", got)
	}
}
