// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const pages = "../../docs/rules/"

// Rows compares the rows of the page that is named like the package under test
// with the rows that its tests have. tables are slices of structs whose field
// row begins with the row's ID; elsewhere are the IDs that other tests show.
func Rows(t *testing.T, elsewhere []string, tables ...any) {
	t.Helper()
	tested := map[string]bool{}
	for _, id := range elsewhere {
		tested[id] = true
	}
	for _, table := range tables {
		rows := reflect.ValueOf(table)
		for i := range rows.Len() {
			id, _, _ := strings.Cut(rows.Index(i).FieldByName("row").String(), " ")
			tested[id] = true
		}
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]+-\d+) \|`).FindAllStringSubmatch(Page(t), -1) {
		if documented[m[1]] {
			t.Errorf("the page has %s twice", m[1])
		}
		documented[m[1]] = true
		if !tested[m[1]] {
			t.Errorf("%s of the page has no test", m[1])
		}
	}
	for id := range tested {
		if !documented[id] {
			t.Errorf("%s is tested, but the page doesn't have it", id)
		}
	}
}

// Reasons fails unless each reason has a name of its own and whole sentences,
// and the page mentions it.
func Reasons(t *testing.T, reasons []policy.Reason) {
	t.Helper()
	page, seen := Page(t), map[string]bool{}
	for _, r := range reasons {
		if seen[r.Name()] {
			t.Errorf("%s is there twice", r)
		}
		seen[r.Name()] = true
		if !strings.HasSuffix(r.Doc(), ".") || !strings.HasSuffix(r.Cure(), ".") {
			t.Errorf("%s lacks a sentence: %q %q", r, r.Doc(), r.Cure())
		}
		if !strings.Contains(page, "`"+r.Name()+"`") {
			t.Errorf("the page doesn't mention %s", r)
		}
	}
}

// Lines fails unless the page has exactly these lines in this order.
func Lines(t *testing.T, lines []string) {
	t.Helper()
	if want := strings.Join(lines, "\n") + "\n"; !strings.Contains(Page(t), want) {
		t.Errorf("the page should have these lines:\n%s", want)
	}
}

// Page returns the page of docs/rules that is named like the package under test.
func Page(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pages + filepath.Base(folder) + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
