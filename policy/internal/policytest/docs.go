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
	documented, file := map[string]bool{}, pageFile(t)
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]+-\d+) \|`).FindAllStringSubmatch(Page(t), -1) {
		if documented[m[1]] {
			t.Errorf("%s has the row %s twice", file, m[1])
		}
		documented[m[1]] = true
		if !tested[m[1]] {
			t.Errorf("%s has the row %s, and no row of a table of the package's tests begins with it", file, m[1])
		}
	}
	for id := range tested {
		if !documented[id] {
			t.Errorf("the tests have the row %s, and %s does not", id, file)
		}
	}
}

// Reasons fails unless each reason has a name of its own and whole sentences,
// and the page mentions it.
func Reasons(t *testing.T, reasons []policy.Reason) {
	t.Helper()
	page, file, seen := Page(t), pageFile(t), map[string]bool{}
	for _, r := range reasons {
		if seen[r.Name()] {
			t.Errorf("the reasons of this package have %s twice", r)
		}
		seen[r.Name()] = true
		if !strings.HasSuffix(r.Doc(), ".") || !strings.HasSuffix(r.Cure(), ".") {
			t.Errorf("%s lacks a sentence: %q %q", r, r.Doc(), r.Cure())
		}
		if !strings.Contains(page, "`"+r.Name()+"`") {
			t.Errorf("%s does not mention the reason %s", file, r)
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
	text, err := os.ReadFile(pageFile(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pageFile returns the path of the page of the package under test.
func pageFile(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return pages + filepath.Base(folder) + ".md"
}
