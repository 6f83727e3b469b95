// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoProductIsComparedElsewhere holds that what differs from one product to another is
// a field of Product: outside of tests, no other package compares a product's name, asks whether a cluster is
// an Etcd, or has a fact of a rule that is named after a product. etcdFiles may ask for an Etcd.
func TestNoProductIsComparedElsewhere(t *testing.T) {
	t.Parallel()
	if len(productNames) != len(products) {
		t.Fatalf("internal/flavour has %d constants of type Name and %d products: each product needs a constant", len(productNames), len(products))
	}
	asked := map[string]bool{}
	err := eachCodeFile("../..", func(set *token.FileSet, name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			what := usesName(n)
			switch {
			case asksForEtcd(n) && etcdFiles[name] == "":
				what = "asks whether a cluster is an Etcd"
			case asksForEtcd(n):
				asked[name] = true
			case strings.HasPrefix(name, "policy/") && namesProduct(n):
				what = "names a fact after a product"
			}
			if what != "" {
				t.Errorf("%s %s; make what differs a field of flavour.Product", set.Position(n.Pos()), what)
			}
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range etcdFiles {
		if !asked[name] {
			t.Errorf("%s does not ask whether a cluster is an Etcd: take it out of etcdFiles", name)
		}
	}
}

// eachCodeFile visits the files of code of all other packages, with their names from root.
func eachCodeFile(root string, visit func(set *token.FileSet, name string, file *ast.File)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "flavour" || path == filepath.Join(root, "test") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		visit(set, filepath.ToSlash(name), file)
		return nil
	})
}

// etcdFiles are the files that may ask whether a cluster is an Etcd, and why: each reads or writes objects of
// etcd-druid's API, which clusters of no other product have.
var etcdFiles = map[string]string{
	"internal/observe/owner/druid.go":              "which object identifies the cluster and has its annotations",
	"internal/observe/owner/of_workload.go":        "which StatefulSets are those of an Etcd",
	"internal/observe/find_owner.go":               "finds the Etcd of a StatefulSet, or an Etcd by its key",
	"internal/observe/resolve/candidates.go":       "leaves the StatefulSet of an Etcd to the Etcd",
	"controller/budget/watches.go":                 "an event of a StatefulSet or a Lease of an Etcd is one of the Etcd",
	"internal/observe/druid_object.go":             "reads the Etcd for the webhook, the controllers and the plugin",
	"internal/observe/backupstore/druid_tasks.go":  "reads EtcdOpsTasks",
	"internal/health/gather/druid.go":              "reads the Etcd, where one that is gone is an error",
	"internal/operate/restore/druid.go":            "writes annotations on the Etcd",
	"internal/operate/traffic/druid_suspend.go":    "reads and writes the annotation that suspends reconciliation",
	"internal/operate/traffic/druid_protection.go": "retries while the webhook that protects the objects of an Etcd denies a write",
}

// asksForEtcd reports whether a node calls Owner.IsEtcd or EtcdOf, or compares with the kind or the kind of workload of an
// Etcd.
func asksForEtcd(n ast.Node) bool {
	is := func(e ast.Expr) bool {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.SelectorExpr); ok && of.Sel.Name == "EtcdKind" && s.Sel.Name == "Kind" {
				return true
			}
			e = s.Sel
		}
		name, ok := e.(*ast.Ident)
		return ok && (name.Name == "IsEtcd" || name.Name == "EtcdOf" || name.Name == "DruidStatefulSet")
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return is(n.Fun)
	case *ast.BinaryExpr:
		return is(n.X) || is(n.Y)
	case *ast.CaseClause:
		return slices.ContainsFunc(n.List, is)
	}
	return false
}

// namesProduct reports whether a node declares a field with the name of a product. Plain and Pods also
// name other things.
func namesProduct(n ast.Node) bool {
	field, ok := n.(*ast.Field)
	return ok && slices.ContainsFunc(field.Names, func(i *ast.Ident) bool {
		return productNames[i.Name] && i.Name != "Plain" && i.Name != "Pods"
	})
}

// usesName returns how a node depends on a product's name. It is empty if it doesn't.
func usesName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && (isName(n.X) || isName(n.Y)) {
			return "compares a product's name"
		}
	case *ast.CaseClause:
		if slices.ContainsFunc(n.List, isName) {
			return "switches over products' names"
		}
	case *ast.KeyValueExpr:
		if isName(n.Key) {
			return "maps products' names"
		}
	}
	return ""
}

// isName reports whether an expression is a product's name, or the field of an owner that
// holds one.
func isName(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 { // a conversion
		return isName(call.Args[0])
	}
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return s.Sel.Name == "Distribution" || ok && pkg.Name == "flavour" && productNames[s.Sel.Name]
}

// productNames are this package's constants of type Name.
var productNames = func() map[string]bool {
	files, _ := filepath.Glob("*.go")
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Name" {
					names[v.Names[0].Name] = true
				}
			}
			return true
		})
	}
	return names
}()
