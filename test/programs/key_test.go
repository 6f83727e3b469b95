// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"slices"
	"testing"
)

// keyOf returns a group's key.
func keyOf(t *testing.T, tree checkout, g group) string {
	t.Helper()
	key, err := g.key(t.Context(), tree, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyOfOwnSources(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		file, content string
		changes       bool
	}{
		"nothing":             {"go.mod", greeting["go.mod"], false},
		"another program":     {"bye/bye.go", "package main\n\nfunc main() { println() }\n", false},
		"a test":              {"hello/hello_test.go", "package main\n", false},
		"a file beside it":    {"hello/README.md", "hello", false},
		"a comment in go.mod": {"go.mod", "// A greeting.\n" + greeting["go.mod"], false},
		"the Go language":     {"go.mod", "module example.com/greeting\n\ngo 1.25\n", true},
		"its own file":        {"hello/hello.go", greeting["hello/hello.go"] + "\n", true},
		"a new file":          {"hello/more.go", "package main\n", true},
		"a package it uses":   {"text/text.go", "package text\n\nconst Hello = \"hi \"\n", true},
		"a file it embeds":    {"hello/name", "world", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := writeTree(t)
			before := keyOf(t, tree, hello)
			writeFile(t, tree, row.file, row.content)
			if changes := keyOf(t, tree, hello) != before; changes != row.changes {
				t.Errorf("the key changes: %t, want %t", changes, row.changes)
			}
		})
	}
}

func TestKeyIsOfContentAlone(t *testing.T) {
	t.Parallel()
	if one, other := keyOf(t, writeTree(t), hello), keyOf(t, writeTree(t), hello); one != other {
		t.Errorf("two checkouts with the same files have the keys %s and %s", one, other)
	}
}

func TestKeyOfUpstream(t *testing.T) {
	t.Parallel()
	upstream := hello
	upstream.module, upstream.version = "example.com/greeting", "v1.0.0"
	stamped, tagged := upstream, upstream
	stamped.stamps, tagged.tags = []string{"main.version=v1.0.0"}, "small"
	tree := writeTree(t)
	writeFile(t, tree, "go.sum", "")
	keys := []string{keyOf(t, tree, upstream), keyOf(t, tree, stamped), keyOf(t, tree, tagged)}
	writeFile(t, tree, "go.sum", "example.com/text v1.0.0 h1:x\n")
	keys = append(keys, keyOf(t, tree, upstream))
	writeFile(t, tree, "go.mod", greeting["go.mod"]+"\n// changed\n")
	keys = append(keys, keyOf(t, tree, upstream))
	if unique := slices.Compact(slices.Sorted(slices.Values(keys))); len(unique) != len(keys) {
		t.Errorf("two of five different builds share a key: %q", keys)
	}
}

func TestKeyOfSourcesThatAreNotThere(t *testing.T) {
	t.Parallel()
	missing := group{name: "missing", dir: "greeting", programs: []program{{name: "missing", pkg: "example.com/greeting/missing"}}}
	if key, err := missing.key(t.Context(), writeTree(t), t.Output()); err == nil {
		t.Errorf("a package that isn't there has the key %s", key)
	}
}
