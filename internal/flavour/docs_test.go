// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestEveryProductIsDocumented holds that the column FLAVOUR of docs/clusters.md has each product, and no
// other name.
func TestEveryProductIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| FLAVOUR \|.*\n(?:\|.*\n)+`).Find(page)
	var documented []Name
	for _, cell := range regexp.MustCompile(`(?m)^\|([^|]+)\|`).FindAllSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllSubmatch(cell[1], -1) {
			documented = append(documented, Name(name[1]))
		}
	}
	for _, p := range All() {
		if !slices.Contains(documented, p.Name) {
			t.Errorf("the column FLAVOUR of docs/clusters.md has no %s: add a row, or add the name to the row of products with the same differences", p.Name)
		}
	}
	for _, name := range documented {
		if !slices.ContainsFunc(All(), func(p Product) bool { return p.Name == name }) {
			t.Errorf("the column FLAVOUR of docs/clusters.md has %s, which is no product of products.go", name)
		}
	}
}
