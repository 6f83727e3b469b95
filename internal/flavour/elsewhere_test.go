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
// a field of Product: outside of tests, no other package uses a product's name but in nameFiles, asks whether a cluster is
// an Etcd, or has a fact of a rule that is named after a product. etcdFiles may ask for an Etcd.
func TestNoProductIsComparedElsewhere(t *testing.T) {
	t.Parallel()
	if len(productNames) != len(products) {
		t.Fatalf("internal/flavour has %d constants of type Name and %d products: each product needs a constant", len(productNames), len(products))
	}
	asked := map[string]bool{}
	err := eachCodeFile("../..", func(set *token.FileSet, name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			what := usesName(n, name)
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
	"webhook/restart_record.go":                    "a request to restart counts on the Etcd",
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

// nameFiles are the files that may have a product's name, and why.
var nameFiles = map[string]string{
	"internal/observe/owner/druid.go":      "an Etcd is a cluster of etcd-druid",
	"internal/observe/owner/pod_owners.go": "the pods of a cluster whose product is not known yet",
}

// usesName returns how a node of a file depends on a product's name. It is empty if it doesn't.
//
//nolint:gocyclo // one case a kind of node
func usesName(n ast.Node, file string) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if ok && pkg.Name == "flavour" && productNames[n.Sel.Name] && nameFiles[file] == "" {
			return "uses a product's name"
		}
		of, ok := n.X.(*ast.CallExpr)
		if !ok || n.Sel.Name != "Name" {
			return ""
		}
		if called, ok := of.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Product" {
			return "reads a product's name"
		}
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && (isDistribution(n.X) || isDistribution(n.Y)) {
			return "compares a product's name"
		}
	case *ast.CallExpr:
		// The products of two owners may be compared.
		if called, ok := n.Fun.(*ast.SelectorExpr); ok && isDistribution(called.X) && !slices.ContainsFunc(n.Args, isDistribution) {
			return "asks a product's name"
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && isDistribution(n.Tag) {
			return "switches over products' names"
		}
	case *ast.IndexExpr:
		if isDistribution(n.Index) {
			return "maps products' names"
		}
	}
	return ""
}

// isDistribution reports whether an expression is the field of an owner that holds a product's name.
func isDistribution(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 { // a conversion
		return isDistribution(call.Args[0])
	}
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Distribution"
}

// TestUsesName holds what the search finds.
func TestUsesName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`o.Product().Name == "bitnami"`: true, `o.Distribution.Is(flavour.Bitnami)`: true, `o.Distribution.Is(x)`: true, `o.Distribution == "x"`: true,
		`string(o.Distribution) != x`: true, `map[flavour.Name]int{flavour.Kamaji: 1}`: true, `slices.Contains(all, flavour.Kamaji)`: true, `byName[o.Distribution]`: true,
		`now.Distribution.Is(c.Distribution)`: false, `o.Product().RenewsLeases`: false, `flavour.Of(o.Distribution)`: false, `string(o.Distribution)`: false, `flavour.ByOperator`: false,
	} {
		expr, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		ast.Inspect(expr, func(n ast.Node) bool {
			found = found || usesName(n, "x.go") != ""
			return true
		})
		if found != want {
			t.Errorf("%s: %t, want %t", text, found, want)
		}
	}
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
