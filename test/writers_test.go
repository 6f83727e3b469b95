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

// writes has the functions and methods that change a Kubernetes cluster or etcd, by the package that
// declares them.
var writes = map[string][]string{
	"sigs.k8s.io/controller-runtime/pkg/client": {"Apply", "Create", "Delete", "DeleteAllOf", "Patch", "Update"},
	"k8s.io/client-go/rest":                     {"Delete", "Patch", "Post", "Put", "Verb"},
	"k8s.io/kubectl/pkg/drain":                  {"DeleteOrEvictPods", "DeletePod", "EvictPod", "PatchOrReplace", "PatchOrReplaceWithContext", "RunCordonOrUncordon", "RunNodeDrain"},
	"go.etcd.io/etcd/client/v3":                 etcdWrites,
	"go.etcd.io/etcd/api/v3/etcdserverpb":       etcdWrites,
	module + "internal/operate/drain":           {"Cordon", "Evict"}, // of its interface Kubectl
	module + "internal/operate/step":            {"exec"},            // runs a command in a pod
}

var etcdWrites = []string{
	"Alarm", "AlarmDisarm", "Compact", "Defragment", "Delete", "DeleteRange", "Do", "Downgrade", "Grant", "LeaseGrant", "LeaseRevoke",
	"MemberAdd", "MemberAddAsLearner", "MemberPromote", "MemberRemove", "MemberUpdate", "MoveLeader", "Put", "Revoke", "Txn",
}

// typed begins the packages of client-go's typed clients, and typedWrites are their methods that write.
const typed = "k8s.io/client-go/kubernetes/typed/"

var typedWrites = []string{
	"Apply", "ApplyScale", "ApplyStatus", "Bind", "Create", "CreateToken", "Delete", "DeleteCollection", "Evict", "EvictV1", "EvictV1beta1", "Patch",
	"PatchStatus", "Update", "UpdateApproval", "UpdateEphemeralContainers", "UpdateResize", "UpdateScale", "UpdateStatus",
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

// writersOf returns the functions of a file that call what writes, by their full names,
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
			if !ok || !isWrite(p.TypesInfo.Uses[selected.Sel]) {
				return true
			}
			at := p.Fset.Position(call.Pos())
			name := p.TypesInfo.Defs[function.Name].(*types.Func).FullName() //nolint:forcetypeassert // of a declared function
			found[name] = fmt.Sprintf("%s:%d: %s writes by %s", filepath.Base(at.Filename), at.Line, strings.ReplaceAll(name, module, ""), selected.Sel.Name)
			return true
		})
	}
	return found
}

// isWrite reports whether a call of a function, a method or a field changes a Kubernetes cluster or etcd.
func isWrite(called types.Object) bool {
	switch called := called.(type) {
	case *types.Func:
		if called.Pkg() == nil {
			return false
		}
		path := called.Pkg().Path()
		return slices.Contains(writes[path], called.Name()) || strings.HasPrefix(path, typed) && slices.Contains(typedWrites, called.Name())
	case *types.Var:
		return runsInPod(called.Type())
	}
	return false
}

// runsInPod reports whether a function runs a command in a pod: it takes a context, a pod and a command.
func runsInPod(function types.Type) bool {
	f, ok := function.Underlying().(*types.Signature)
	if !ok {
		return false
	}
	var parameters []string
	for v := range f.Params().Variables() {
		parameters = append(parameters, v.Name())
	}
	return len(parameters) > 2 && f.Params().At(0).Type().String() == "context.Context" && slices.Contains(parameters, "pod") && slices.Contains(parameters, "command")
}
