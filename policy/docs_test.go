// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rowsElsewhere are shown by tests that are no tables.
var rowsElsewhere = map[string]string{
	"B-28": "TestAdoptMaxUnavailable",
	"B-30": "TestBudgetTimesToCome",
}

// TestDocs holds the pages of docs/rules and the tests to the same rows.
func TestDocs(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for id := range rowsElsewhere {
		tested[id] = true
	}
	for _, r := range budgetRows {
		tested[id(r.row)] = true
	}
	for _, r := range budgetTimes {
		tested[id(r.row)] = true
	}
	for _, r := range spreadRows {
		tested[id(r.row)] = true
	}
	for _, r := range membershipRows {
		tested[id(r.row)] = true
	}
	for _, r := range gateRows {
		tested[id(r.row)] = true
	}
	for _, r := range stepRows {
		tested[id(r.row)] = true
	}
	for _, r := range maintenanceRows {
		tested[id(r.row)] = true
	}
	documented := map[string]bool{}
	for page, prefix := range map[string]string{"budget.md": "B", "spread.md": "S", "membership.md": "M", "maintenance.md": "D"} {
		for _, m := range regexp.MustCompile(`(?m)^\| (`+prefix+`-\d+) \|`).FindAllStringSubmatch(rulesPage(t, page), -1) {
			if documented[m[1]] {
				t.Errorf("%s has %s twice", page, m[1])
			}
			documented[m[1]] = true
			if !tested[m[1]] {
				t.Errorf("%s of %s has no test", m[1], page)
			}
		}
	}
	for id := range tested {
		if !documented[id] {
			t.Errorf("%s is tested, but no page has it", id)
		}
	}
}

// TestReasons holds the table of reasons to the pages: each is there once, and
// its page mentions it.
func TestReasons(t *testing.T) {
	t.Parallel()
	var names []string
	for _, r := range Reasons() {
		if slices.Contains(names, r.Reason) || r.Doc == "" {
			t.Errorf("%s is there twice or says nothing", r.Reason)
		}
		names = append(names, r.Reason)
		if page := rulesPage(t, strings.ToLower(r.Rule)+".md"); !strings.Contains(page, "`"+r.Reason+"`") {
			t.Errorf("the page of %s does not mention %s", r.Rule, r.Reason)
		}
	}
	for reason := range effects {
		if !slices.Contains(names, reason) {
			t.Errorf("%s has no entry", reason)
		}
	}
}

func id(row string) string { id, _, _ := strings.Cut(row, " "); return id }

func rulesPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/rules/" + page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
