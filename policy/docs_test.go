// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryRuleHasAPage holds that each page of docs/rules has a package of its
// name, each package a page, and that the package compares itself with it.
func TestEveryRuleHasAPage(t *testing.T) {
	t.Parallel()
	var rules, pages []string
	for _, file := range glob(t, "../docs/rules/*.md") {
		pages = append(pages, strings.TrimSuffix(filepath.Base(file), ".md"))
	}
	for _, file := range glob(t, "*/*.go") {
		if folder := filepath.Dir(file); !slices.Contains(rules, folder) {
			rules = append(rules, folder)
		}
	}
	if !slices.Equal(rules, pages) {
		t.Errorf("docs/rules has pages for %v, policy has packages for %v", pages, rules)
	}
	for _, rule := range rules {
		test, err := os.ReadFile(filepath.Join(rule, "docs_test.go"))
		if err != nil || !strings.Contains(string(test), "policytest.Rows(") || !strings.Contains(string(test), "policytest.Reasons(") {
			t.Errorf("%s doesn't compare its rows and reasons with its page (docs_test.go): %v", rule, err)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	return files
}
