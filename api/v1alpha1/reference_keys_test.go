// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// key is one use of a key of this project, with the constant's comment. A key may have several
// uses, with another meaning on another kind of object.
type key struct{ name, doc string }

// TestReferenceAnnotations checks that docs/reference/annotations.md has every key of this
// project on objects and in audit events, with the comment in the source.
func TestReferenceAnnotations(t *testing.T) {
	t.Parallel()
	ours, audits := keysOf(t, filepath.Join("..", ".."))
	if len(ours) < 20 || len(audits) != 3 {
		t.Fatalf("found only %d keys and %d audit annotations in the source", len(ours), len(audits))
	}
	var b strings.Builder
	b.WriteString("# Annotations, labels and keys\n\n`make generate` generates this page from the source.\n\n## On objects\n\n" +
		"These are all keys below `kubectl-etcd.dev/` on Kubernetes objects. Users or the programs set them.\n\n")
	table(&b, ours)
	b.WriteString("\n## In audit events\n\nThe API server's audit event of a request contains the decision of etcd-webhook, at level Metadata and\n" +
		"above. The name of the webhook is before each key:\n`pods.etcd-webhook.kubectl-etcd.dev/outcome`. " +
		"A request that etcd-webhook ignores has no such keys.\n\n")
	table(&b, audits)
	same(t, "annotations.md", b.String())
}

func table(b *strings.Builder, keys []key) {
	b.WriteString("| key | meaning |\n| --- | --- |\n")
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.doc, b.doc)) })
	for _, k := range keys {
		fmt.Fprintf(b, "| `%s` | %s |\n", k.name, k.doc)
	}
}

// keysOf returns the keys in the whole source, including new folders.
func keysOf(t *testing.T, root string) (ours, audits []key) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		// test is another module, and its keys are on no user's object.
		case d.IsDir() && path != root && (path == filepath.Join(root, "test") || name == "testdata" || name[0] == '.'):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			o, a := keysIn(t, path)
			ours, audits = append(ours, o...), append(audits, a...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ours, audits
}

// keysIn returns the constants of a file that are keys. A key outside of a constant is an error,
// because it has no description.
func keysIn(t *testing.T, path string) (ours, audits []key) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	named := map[ast.Node]bool{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, value := range v.Values {
				name := v.Names[i].Name
				named[value] = true
				switch text := literal(value); {
				case name == "controllerName": // it has the form of a key, but is none
				case isKey(text):
					ours = append(ours, key{text, described(t, path, g, v, name)})
				case strings.HasPrefix(name, "audit") && text != "":
					audits = append(audits, key{text, described(t, path, g, v, name)})
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text := literal(n); isKey(text) && !named[n] {
			t.Errorf("%s has %q, which is not a constant with a comment", path, text)
		}
		return true
	})
	return ours, audits
}

// literal returns the text of a string literal. It is empty for other nodes.
func literal(n ast.Node) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return text
}

func isKey(text string) bool {
	rest, ours := strings.CutPrefix(text, "kubectl-etcd.dev/")
	return ours && rest != "" && !strings.ContainsAny(rest, " =:")
}

// described returns a constant's comment without the constant's name at its beginning.
func described(t *testing.T, path string, g *ast.GenDecl, v *ast.ValueSpec, name string) string {
	t.Helper()
	doc := v.Doc.Text()
	if doc == "" {
		doc = g.Doc.Text()
	}
	doc, begins := strings.CutPrefix(strings.Join(strings.Fields(doc), " "), name+" ")
	if !begins {
		t.Errorf("%s: the comment of %s must begin with this name", path, name)
	}
	return strings.NewReplacer("CreatedByController", CreatedByController, "OptOut", OptOut, "SuspendAnnotation", "druid.gardener.cloud/suspend-etcd-spec-reconcile",
		"reasons.md", "[reasons.md](reasons.md)", "<", "\\<").Replace(strings.TrimPrefix(doc, "is "))
}
