// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// writes has the methods that change a Kubernetes cluster or etcd, by the package that declares
// them.
var writes = map[string][]string{
	"sigs.k8s.io/controller-runtime/pkg/client": {"Apply", "Create", "Delete", "DeleteAllOf", "Patch", "Update"},
	"go.etcd.io/etcd/client/v3":                 etcdWrites,
	"go.etcd.io/etcd/api/v3/etcdserverpb":       etcdWrites,
}

var etcdWrites = []string{
	"Alarm", "AlarmDisarm", "Compact", "Defragment", "Delete", "DeleteRange", "Do", "Downgrade", "MemberAdd", "MemberAddAsLearner", "MemberPromote", "MemberRemove",
	"MemberUpdate", "MoveLeader", "Put", "Txn",
}

// TestWritersAreTested: a test of its package calls each function of internal/operate that writes
// to Kubernetes or etcd. What such a function writes, and that it writes nothing more on an error, is
// what users trust.
func TestWritersAreTested(t *testing.T) {
	t.Parallel()
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: "..", Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile,
	}, module+"internal/operate/...")
	if err != nil {
		t.Fatal(err)
	}
	writers, tested := map[string]string{}, map[string]bool{}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.ID, e)
		}
		for name, used := range p.TypesInfo.Uses {
			if f, ok := used.(*types.Func); ok && isTest(p.Fset, name.Pos()) {
				tested[f.FullName()] = true
			}
		}
		for _, file := range p.Syntax {
			if !isTest(p.Fset, file.Pos()) {
				maps.Copy(writers, writersOf(p, file))
			}
		}
	}
	if len(writers) < 20 {
		t.Errorf("only %d functions write: the list of methods is wrong", len(writers))
	}
	for name, where := range writers {
		if !tested[name] {
			t.Errorf("%s, and no test of its package calls it: add a test of what it writes, and of what it does when the write is refused, the object has changed or is gone", where)
		}
	}
}

func isTest(files *token.FileSet, at token.Pos) bool {
	return strings.HasSuffix(files.Position(at).Filename, "_test.go")
}

// writersOf returns the functions of a file that call a method that writes, by their full names,
// with their position and the call.
func writersOf(p *packages.Package, file *ast.File) map[string]string {
	found := map[string]string{}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selected, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			method, ok := p.TypesInfo.Uses[selected.Sel].(*types.Func)
			if !ok || method.Pkg() == nil || method.Signature().Recv() == nil || !slices.Contains(writes[method.Pkg().Path()], method.Name()) {
				return true
			}
			at := p.Fset.Position(call.Pos())
			name := p.TypesInfo.Defs[function.Name].(*types.Func).FullName() //nolint:forcetypeassert // of a declared function
			found[name] = fmt.Sprintf("%s:%d: %s writes by %s", filepath.Base(at.Filename), at.Line, strings.ReplaceAll(name, module, ""), method.Name())
			return true
		})
	}
	return found
}
