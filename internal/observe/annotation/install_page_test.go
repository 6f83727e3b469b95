// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestInstallPageRemovesAll: the commands of docs/install.md for a program that doesn't run remove each annotation of a
// budget's record, and no other.
func TestInstallPageRemovesAll(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	loop := regexp.MustCompile(`for key in (.*); do`).FindSubmatch(page)
	if loop == nil {
		t.Fatal("the page has no loop over the keys")
	}
	var removed []string
	for key := range strings.FieldsSeq(string(loop[1])) {
		removed = append(removed, "kubectl-etcd.dev/budget-"+key)
	}
	want := BudgetAnnotations()
	slices.Sort(removed)
	slices.Sort(want)
	if !slices.Equal(removed, want) {
		t.Errorf("the page removes %q, want %q", removed, want)
	}
}
