// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// rowID matches the ID of a row of a rule's table.
var rowID = regexp.MustCompile(`(?m)^\| ?([A-Z]+-[0-9]+) ?\|`)

// TestRowIDs holds that each ID stands for one row: people and commands name a row by its ID alone.
func TestRowIDs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("rules/*.md")
	if err != nil {
		t.Fatal(err)
	}
	page := map[string]string{}
	for _, p := range pages {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rowID.FindAllStringSubmatch(string(text), -1) {
			if page[row[1]] != "" {
				t.Errorf("%s is a row of %s and of %s: give one of the rows another ID", row[1], page[row[1]], p)
			}
			page[row[1]] = p
		}
	}
	if len(page) == 0 {
		t.Error("no page has a row")
	}
}
