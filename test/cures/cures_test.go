// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cures

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// TestEveryCheck checks that the cure of every check is typed, or has a reason why it is not, and only
// one of these.
func TestEveryCheck(t *testing.T) {
	t.Parallel()
	lists := map[string]int{}
	all := append(slices.Collect(maps.Values(Typed())), slices.Collect(maps.Keys(Elsewhere())), slices.Collect(maps.Keys(Compared())), slices.Collect(maps.Keys(Untyped())))
	for _, ids := range all {
		for _, id := range ids {
			lists[id]++
		}
	}
	for _, c := range health.All() {
		if n := lists[c.ID]; n != 1 {
			t.Errorf("the cure of %s (%s) is in %d lists, want 1: add a row to TestCuresTyped, or add the reason to Untyped", c.ID, c.Title, n)
		}
		delete(lists, c.ID)
	}
	for id := range lists {
		t.Errorf("there is no check %s", id)
	}
	for id, why := range Untyped() {
		if why == "" {
			t.Errorf("%s has no reason why its cure is not typed", id)
		}
	}
}

// TestElsewhere checks that the functions which type or compare the other cures exist, and do so: each names the check,
// and one that types the cure replaces the member.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	bodies := e2eFunctions(t)
	for id, name := range Elsewhere() {
		body := bodies[name]
		if !strings.Contains(body, id) || !strings.Contains(body, "kubectl etcd member replace") || !strings.Contains(body, `plugin(t, 0, "member", "replace"`) {
			t.Errorf("%s: %s of package e2e doesn't compare its cure and type it", id, name)
		}
	}
	for id, name := range Compared() {
		if body := bodies[name]; !strings.Contains(body, `"`+id+`"`) || !strings.Contains(body, "fixOf(t, ") {
			t.Errorf("%s: %s of package e2e doesn't compare its cure", id, name)
		}
	}
}

// e2eFunctions returns the texts of the functions of package e2e by name. A text ends where the next function begins.
func e2eFunctions(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	bodies := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nfunc ")[1:] {
			name, body, _ := strings.Cut(function, "(")
			bodies[name] = body
		}
	}
	return bodies
}
