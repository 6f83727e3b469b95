// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reasonFolders are the folders whose code sets reasons. The rules' reasons are values, which
// have a meaning by construction.
var reasonFolders = []string{
	"../../../webhook", "../../../controller", "../../observe", "../../health", "../../health/*", "../../install",
	"../../operate", "../../operate/*", "..", "../*",
}

var camelCase = regexp.MustCompile(`^[A-Z][a-z]+([A-Z][a-z]+)*$`)

// TestEveryReasonIsExplained finds reasons in the source code. A reason is an untyped constant
// named reasonX, or X with the value "X" in observe, or a literal that sets a Reason.
func TestEveryReasonIsExplained(t *testing.T) {
	found := map[string]string{}
	for _, folder := range reasonFolders {
		for _, file := range goFiles(t, folder) {
			reasonsIn(t, file, found)
		}
	}
	if len(found) < 60 {
		t.Fatalf("found only %d reasons in the source code: check this test", len(found))
	}
	explained := map[string]bool{}
	for _, r := range Reasons() {
		if explained[r.Name] {
			t.Errorf("%s is explained twice", r.Name)
		}
		explained[r.Name] = true
		if r.Doc == "" || r.Do == "" || !strings.HasSuffix(r.Doc, ".") || !strings.HasSuffix(r.Do, ".") {
			t.Errorf("%s: want a meaning and a remedy in whole sentences, got %q and %q", r.Name, r.Doc, r.Do)
		}
	}
	for name, where := range found {
		if !explained[name] {
			t.Errorf("%s: reason %s is not explained: add it to reasons_*.go", where, name)
		}
	}
}

func goFiles(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", folder, err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

func reasonsIn(t *testing.T, path string, found map[string]string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	note := func(e ast.Expr) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		if name, err := strconv.Unquote(lit.Value); err == nil && camelCase.MatchString(name) {
			found[name] = fset.Position(lit.Pos()).String()
		}
	}
	rules := strings.Contains(path, "observe")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			reasonConstants(n, rules, note)
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && (strings.EqualFold(key.Name, "reason") || key.Name == "event") {
				note(n.Value)
			}
		case *ast.CallExpr:
			for _, arg := range reasonArguments(n) {
				note(arg)
			}
		}
		return true
	})
}

// reasonConstants collects the constants that are reasons. With rules, it includes constants whose
// name equals their value.
func reasonConstants(n *ast.ValueSpec, rules bool, note func(ast.Expr)) {
	for i, name := range n.Names {
		named := strings.HasPrefix(strings.ToLower(name.Name), "reason")
		if n.Type == nil && i < len(n.Values) && (named || rules && equalsName(name.Name, n.Values[i])) {
			note(n.Values[i])
		}
	}
}

// equalsName reports whether the value of a constant is its name.
func equalsName(name string, value ast.Expr) bool {
	lit, ok := value.(*ast.BasicLit)
	return ok && strings.EqualFold(strconv.Quote(name), lit.Value)
}

// reasonArguments returns the arguments of a call that are reasons.
func reasonArguments(call *ast.CallExpr) []ast.Expr {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	at := map[string][]int{"note": {0}, "put": {2}, "word": {2, 3}, "announce": {2}, "Announce": {3}}
	var out []ast.Expr
	for _, i := range at[name] {
		if i < len(call.Args) {
			out = append(out, call.Args[i])
		}
	}
	return out
}
