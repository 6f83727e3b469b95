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
	for _, ids := range [][]string{Typed(), TypedOnDruid(), slices.Collect(maps.Keys(Elsewhere())), slices.Collect(maps.Keys(Untyped()))} {
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

// TestElsewhere checks that the tests which type the other cures exist, and name the check.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for id, test := range Elsewhere() {
		found := slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, body, is := strings.Cut(string(text), "func "+test+"(")
			return is && (strings.Contains(body, id) || strings.Contains(body, "kubectl etcd member replace"))
		})
		if !found {
			t.Errorf("%s: no test %s of package e2e names it", id, test)
		}
	}
}
