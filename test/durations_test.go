// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"testing"

	"golang.org/x/tools/go/packages"
)

// verb matches a verb of a format, with its flags.
var verb = regexp.MustCompile(`%[^a-zA-Z%]*([a-zA-Z%])`)

// TestDurationsAreShort: no message formats a time.Duration itself, which would print "15m0s".
func TestDurationsAreShort(t *testing.T) {
	t.Parallel()
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: "..",
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile,
	}, module+"...")
	if err != nil || len(loaded) < 50 {
		t.Fatalf("%d packages: %v", len(loaded), err)
	}
	for _, p := range loaded {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, arg := range formatted(p.TypesInfo, call) {
						t.Errorf("%s: a time.Duration is formatted: use policy.Duration", p.Fset.Position(arg.Pos()))
					}
				}
				return true
			})
		}
	}
}

// formatted returns the durations that a call formats by %s or %v, in the order of the verbs.
func formatted(info *types.Info, call *ast.CallExpr) (found []ast.Expr) {
	for i, arg := range call.Args {
		format := info.Types[arg].Value
		if format == nil || format.Kind() != constant.String {
			continue
		}
		next := call.Args[i+1:]
		for _, m := range verb.FindAllStringSubmatch(constant.StringVal(format), -1) {
			if m[1] == "%" || len(next) == 0 {
				continue
			}
			if of := info.TypeOf(next[0]); (m[1] == "s" || m[1] == "v") && of != nil && of.String() == "time.Duration" {
				found = append(found, next[0])
			}
			next = next[1:]
		}
	}
	return found
}
