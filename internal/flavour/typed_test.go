// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// typedFiles are the files that may have a product's API group or annotation as text, and why.
var typedFiles = map[string]string{
	"webhook/entries/entries.go":                   "the API server calls admission for the objects of this group",
	"internal/operate/traffic/druid_protection.go": "the name of a webhook, in the API server's error",
	"internal/operate/operatetest/cluster.go":      "the API server of tests",
}

// TestNoProductIsTypedElsewhere: outside of this package, no code has the API group of a product or the prefix of its
// annotations as text: what a message or a cache needs of it is a field of Product.
func TestNoProductIsTypedElsewhere(t *testing.T) {
	t.Parallel()
	prefixes := AnnotationPrefixes()
	for _, p := range products {
		for _, kind := range p.Controllers {
			if strings.Contains(kind.Group, ".") { // apps and batch are not of one product
				prefixes = append(prefixes, kind.Group)
			}
		}
	}
	used := map[string]bool{}
	err := eachCodeFile("../..", func(set *token.FileSet, name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, is := n.(*ast.ImportSpec); is {
				return false
			}
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value) // the parser has checked it
			if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.Contains(text, p) }) {
				return true
			}
			if used[name] = true; typedFiles[name] == "" {
				t.Errorf("%s has the API group or an annotation of a product in %q: use a field of flavour.Product", set.Position(n.Pos()), text)
			}
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range typedFiles {
		if !used[name] {
			t.Errorf("%s has no API group or annotation of a product: take it out of typedFiles", name)
		}
	}
}
