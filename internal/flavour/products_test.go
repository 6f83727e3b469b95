// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestProducts holds that each product is complete, and has a name of its own and a file of that name.
func TestProducts(t *testing.T) {
	t.Parallel()
	seen := map[Name]bool{}
	for _, p := range All() {
		if p.Name == "" || seen[p.Name] {
			t.Errorf("the name %q is empty or taken twice", p.Name)
		}
		seen[p.Name] = true
		for _, what := range incomplete(p) {
			t.Errorf("%s: %s", p.Name, what)
		}
		file := strings.ReplaceAll(string(p.Name), "-", "_") + ".go"
		if countProducts(t, file) != 1 {
			t.Errorf("%s declares no product: it is the file of %s", file, p.Name)
		}
		if Of(p.Name).Name != p.Name {
			t.Errorf("%s isn't found by its name", p.Name)
		}
	}
	if got := Of("unheard-of").Name; got != Plain {
		t.Errorf("a name that no product has is %s, want %s", got, Plain)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for _, file := range files {
		values += countProducts(t, file)
	}
	if values != len(products) {
		t.Errorf("the files of internal/flavour declare %d values of Product, and products in products.go lists %d: list each of them", values, len(products))
	}
}

// incomplete returns what fields of a product lack that belong to others.
//
//nolint:gocyclo // one row a field
func incomplete(p Product) []string {
	m := p.Membership
	druids := slices.ContainsFunc(p.Controllers, func(kind schema.GroupVersionKind) bool {
		return kind.Group == "druid.gardener.cloud" && kind.Kind == "Etcd"
	})
	var out []string
	for what, wrong := range map[string]bool{
		"managed members need a manager's name, how to scale and how to replace": m.Manager != Unmanaged && (m.ManagerName == "" || m.ScaleHow == "" || m.ReplaceHow == ""),
		"AddsOnly needs ByPlugin and ScaleInHow, and no RemovesMembers":          m.AddsOnly && (m.RemovesMembers || !m.ByPlugin || m.ScaleInHow == ""),
		"RemovesUnlisted needs ChartValue, and no RemovesMembers":                m.RemovesUnlisted && (m.RemovesMembers || m.ChartValue == ""),
		"BackupRestore needs the fields Store and Schedule":                      p.BackupRestore && (p.Fields[Store] == "" || p.Fields[Schedule] == ""),
		"HealsNothing needs ReportsStatus":                                       p.HealsNothing && !p.ReportsStatus,
		"AlwaysAllowBy needs WritesBudget":                                       p.AlwaysAllowBy != "" && !p.WritesBudget,
		"RecoveryEnv and RecoveryOff belong together":                            (p.RecoveryEnv == "") != (p.RecoveryOff == ""),
		"BackupRestore, ReportsStatus, SuspendBy and ByPlugin read and write Etcds of etcd-druid: write first what does so with another object, and choose it by the kind of the object": !druids && (p.BackupRestore || p.ReportsStatus || p.SuspendBy != "" || m.ByPlugin),
	} {
		if wrong {
			out = append(out, what)
		}
	}
	return out
}

// countProducts counts the products that a file declares, which may be one.
func countProducts(t *testing.T, file string) int {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range parsed.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				continue
			}
			if literal, ok := v.Values[0].(*ast.CompositeLit); ok {
				if name, ok := literal.Type.(*ast.Ident); ok && name.Name == "Product" {
					n++
				}
			}
		}
	}
	if n > 1 {
		t.Errorf("%s declares %d products; one file has one", file, n)
	}
	return n
}
