// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// reports returns an unhealthy cluster, with one finding of every kind, and a healthy one.
func reports() []v1alpha1.CheckReport {
	finding := func(level, message, fix string) v1alpha1.CheckFinding {
		return v1alpha1.CheckFinding{Level: level, Message: message, Fix: fix}
	}
	refused := `the nodes: nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope`
	return []v1alpha1.CheckReport{
		{
			Cluster: v1alpha1.CheckedCluster{Namespace: "team-a", Kind: "Etcd", Name: "main", Target: "etcd/main", Distribution: "etcd-druid", Replicas: 3},
			Result:  "Failure", Summary: v1alpha1.CheckSummary{OK: 2, Info: 1, Unknown: 2, Warning: 1, Failure: 1, NotApplicable: 1},
			Checks: []v1alpha1.CheckResult{
				{ID: "Q001", Category: "quorum", Title: "a quorum of voters answers and follows one leader", Result: "OK", Findings: []v1alpha1.CheckFinding{finding("OK", "3 of 3 voters, quorum is 2", "")}},
				{ID: "Q004", Category: "quorum", Title: "all members agree on the leader", Result: "OK"},
				{ID: "D001", Category: "data", Title: "no alarm is raised", Result: "Failure", Findings: []v1alpha1.CheckFinding{
					finding("Failure", "NOSPACE on main-0: the cluster refuses all writes (16.0 MiB used of a quota of 16.0 MiB)", "kubectl etcd defrag etcd/main -n team-a"),
					finding("Failure", "NOSPACE on main-1: the cluster refuses all writes (16.0 MiB used of a quota of 16.0 MiB)", "kubectl etcd defrag etcd/main -n team-a"),
				}},
				{ID: "D005", Category: "data", Title: "old revisions are compacted", Result: "NotApplicable", Findings: []v1alpha1.CheckFinding{finding("NotApplicable", "Kubernetes API servers compact their stores themselves", "")}},
				{ID: "V002", Category: "versions", Title: "no member runs a version with a known fault", Result: "Info", Findings: []v1alpha1.CheckFinding{finding("Info", "3.5.27 on main-0: with authentication, several calls go unchecked (CVE-2026-33413)", "update to 3.5.28 or a newer patch version")}},
				{ID: "P001", Category: "placement", Title: "no two members run on one node", Result: "Unknown", Findings: []v1alpha1.CheckFinding{finding("Unknown", refused, "ask for the permission to list nodes at the cluster scope")}},
				{ID: "P002", Category: "placement", Title: "members are spread evenly over the zones", Result: "Unknown", Findings: []v1alpha1.CheckFinding{finding("Unknown", refused, "ask for the permission to list nodes at the cluster scope")}},
				{ID: "B003", Category: "budgets", Title: "the budget keeps a quorum", Result: "Warning", Findings: []v1alpha1.CheckFinding{
					finding("Warning", "budget main (minAvailable=1) keeps 1 of 3 members, quorum is 2", `kubectl patch poddisruptionbudget main --type=merge -p '{"spec":{"minAvailable":2}}' -n team-a`),
					finding("Info", "it is the chart's", ""),
				}},
			},
		},
		{
			Cluster: v1alpha1.CheckedCluster{Namespace: "b", Kind: "StatefulSet", Name: "plain-3", Target: "statefulset/plain-3", Distribution: "plain", Replicas: 1},
			Result:  "OK", Summary: v1alpha1.CheckSummary{OK: 1},
			Checks: []v1alpha1.CheckResult{{ID: "Q001", Category: "quorum", Title: "a quorum of voters answers and follows one leader", Result: "OK"}},
		},
	}
}

// TestCheck compares the output for terminals and for files with golden files. UPDATE=1 writes
// them.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]checkPrinter{
		"file":     {},
		"80":       {columns: 80},
		"200":      {columns: 200, all: true},
		"problems": {columns: 80, problems: true},
		"color":    {columns: 80, problems: true, Console: &ui.Console{Color: ui.ColorAlways}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p.out = &out
			if p.Console == nil {
				p.Console = ui.NewConsole(genericiooptions.IOStreams{Out: &out, ErrOut: io.Discard})
				p.Color = ui.ColorNever
			}
			p.print(reports())
			for line := range strings.Lines(out.String()) {
				if p.columns > 0 && name != "color" && utf8.RuneCountInString(line) > p.columns+1 && !strings.Contains(line, "fix: ") {
					t.Errorf("a line is too long: %q", line)
				}
			}
			file := filepath.Join("testdata", "check", name+".golden.txt")
			if os.Getenv("UPDATE") != "" {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s differs; got:\n%s", file, out.String())
			}
		})
	}
}
