// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// TestFailure: a report in which nothing could be judged is no success, whichever checks were selected.
func TestFailure(t *testing.T) {
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
		err := failure([]v1alpha1.CheckReport{r}, nil)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if code, _ := app.Outcome(t.Context(), err); (code == 3) != (row.want != "") {
			t.Errorf("%s: exit code %d", row.name, code)
		}
	}
	if code, _ := app.Outcome(t.Context(), failure(nil, errors.New("what m executes"))); code != 3 {
		t.Errorf("clusters may be missing: exit code %d", code)
	}
}
