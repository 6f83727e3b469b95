// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTable holds the table to the modules that it speaks of: what a person
// reads in the progress has to be what is built.
func TestTable(t *testing.T) {
	t.Parallel()
	tree, err := findCheckout()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range groups {
		if slices.Contains(names, g.name) {
			t.Errorf("two groups are called %s", g.name)
		}
		names = append(names, g.name)
		if g.own() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(tree.module(g.dir), "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		mod := string(data)
		if pin := "\t" + g.module + " " + g.version + " "; !strings.Contains(mod, pin) {
			t.Errorf("%s/go.mod doesn't pin %s", g.dir, pin)
		}
		for _, pkg := range g.packages() {
			if !strings.Contains(mod, "\t"+pkg+"\n") && !strings.Contains(mod, "tool "+pkg+"\n") {
				t.Errorf("%s/go.mod has no tool %s", g.dir, pkg)
			}
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	all := All()
	if unique := slices.Compact(slices.Clone(all)); len(unique) != len(all) {
		t.Errorf("a name stands for two programs in %q", all)
	}
}

func TestUnknownProgram(t *testing.T) {
	t.Parallel()
	_, err := Ensure(t.Context(), Cache{t.TempDir()}, []string{"kubectl", "emacs"}, t.Output())
	if err == nil || !strings.Contains(err.Error(), `"emacs"`) {
		t.Errorf("got error %v", err)
	}
}
