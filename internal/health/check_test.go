// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var idForm = regexp.MustCompile(`^[A-Z]\d{3}$`)

// TestAll holds every check to the form that people and scripts rely on.
func TestAll(t *testing.T) {
	t.Parallel()
	letters := map[byte]Category{}
	var ids []string
	for _, c := range All() {
		if !idForm.MatchString(c.ID) || slices.Contains(ids, c.ID) {
			t.Errorf("%q is no ID, or another check's", c.ID)
		}
		ids = append(ids, c.ID)
		if other, taken := letters[c.ID[0]]; taken && other != c.Category {
			t.Errorf("%s is of %s, and its letter of %s", c.ID, c.Category, other)
		}
		letters[c.ID[0]] = c.Category
		if c.run == nil || c.Title == "" || !strings.HasSuffix(c.Doc, ".") || !strings.HasSuffix(c.Cure, ".") {
			t.Errorf("%s lacks a function, a title, or what it means and what to do in whole sentences", c.ID)
		}
	}
}

// TestEveryCheckHasRows reads the tables: each check has a row in which it is OK
// or doesn't apply, and one in which it isn't.
func TestEveryCheckHasRows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	good, bad := map[string]bool{}, map[string]bool{}
	row := regexp.MustCompile(`(?s)id: "([A-Z]\d{3})".*?want: (\w+)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			switch m[2] {
			case "OK", "NotApplicable":
				good[m[1]] = true
			default:
				bad[m[1]] = true
			}
		}
	}
	for _, c := range All() {
		if !good[c.ID] || !bad[c.ID] {
			t.Errorf("%s needs two rows in the tables of this package's tests: one with want: OK or NotApplicable (there is one: %t), and one with another level (there is one: %t)", c.ID, good[c.ID], bad[c.ID])
		}
	}
}

// TestReference holds docs/reference/checks.md to the list; UPDATE=1 writes it.
func TestReference(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "reference", "checks.md")
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Reference() {
		t.Errorf("%s differs from the checks: run make generate", file)
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		only, skip []string
		ids        string // the first and the last, and how many
		fails      string
	}{
		{name: "all", ids: "Q001"},
		{name: "a category", only: []string{"quorum"}, ids: "Q001 Q002 Q003 Q004 Q005 Q006 Q007"},
		{name: "an ID in any case", only: []string{"q005"}, ids: "Q005"},
		{name: "without one", only: []string{"guard"}, skip: []string{"G002"}, ids: "G001 G003"},
		{name: "nothing", only: []string{"Q001"}, skip: []string{"quorum"}, fails: "leave no check to run"},
		{name: "no such", only: []string{"qourum"}, fails: `"qourum" is neither a check nor a category`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			checks, err := Selection{Only: row.only, Skip: row.skip}.Checks()
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Errorf("got %v, want %q", err, row.fails)
				}
				return
			}
			var ids []string
			for _, c := range checks {
				ids = append(ids, c.ID)
			}
			if got := strings.Join(ids, " "); err != nil || !strings.HasPrefix(got, row.ids) || len(row.only) > 0 && got != row.ids {
				t.Errorf("got %s, %v; want %s", got, err, row.ids)
			}
		})
	}
}
