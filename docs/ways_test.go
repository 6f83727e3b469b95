// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWaysAreTested checks that each way in which a member can go names tests that exist, or why there is none.
func TestWaysAreTested(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("rules/eviction.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Ways in which a member can go")
	rows := regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(section, -1)
	if len(rows) < 3 {
		t.Fatal("the table has no rows")
	}
	exist := testsOfRepository(t)
	for _, row := range rows[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		tests := cells[len(cells)-1]
		names := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(tests, -1)
		if len(cells) != 4 || len(names) == 0 && !strings.HasPrefix(tests, "none") {
			t.Errorf("no test: %s", row)
		}
		for _, name := range names {
			if !exist[name[1]] {
				t.Errorf("%s does not exist: %s", name[1], row)
			}
		}
	}
}

// testsOfRepository returns the names of all tests, also those of the module test.
func testsOfRepository(t *testing.T) map[string]bool {
	t.Helper()
	names, function := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := fs.ReadFile(root, path)
		for _, m := range function.FindAllSubmatch(code, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
