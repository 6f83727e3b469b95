// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestTenantsTextIsNoCommand: a person may run a printed plan in a shell. The paths of a pod template and the names of a
// store are texts of users who may write those objects, and none of them becomes a command.
func TestTenantsTextIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x; canary #", "x'; canary; '", "x\ncanary\n", "x & canary", "x | canary", `x" && canary "`, "x (canary)"} {
		plain := changed(plainRestore(), func(r *Plan) {
			r.Files.DataDir, r.Files.WALDir = "/data/"+text, "/wal/"+text
		})
		node := changed(druidRestore(), func(r *Plan) {
			r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\n", "/bucket/"+text
		})
		var plans []Plan
		plans = append(plans, plain, changed(plain, func(r *Plan) { r.OneByOne = true }), changed(plain, func(r *Plan) { r.Gone = []string{"data-main-1"} }), node)
		for _, provider := range []string{"S3", "GCS", "ABS", "Swift", "OSS", text} {
			plans = append(plans, changed(druidRestore(), func(r *Plan) {
				r.Druid.Store = &backupstore.Store{Provider: provider, Container: text, Prefix: text}
			}))
		}
		for _, r := range plans {
			steps, _, err := Steps(r)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			undo, err := r.Undo(recordOf(r, begun(t, r)))
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			for _, s := range slices.Concat(steps, undo) {
				for _, c := range s.Commands(r.Flags) {
					if called := commandsIn(t, c); slices.Contains(called, "canary") {
						t.Errorf("%q is a command in step %q:\n%s", text, s.Title, c)
					}
				}
			}
		}
	}
}

// begun returns how many steps of a plan are done when its old data has another name, or its snapshot is in the store.
func begun(t *testing.T, r Plan) int {
	t.Helper()
	steps := r.steps()
	at := slices.IndexFunc(steps, func(s step.Step) bool {
		return s.ID == renamed && len(r.Gone) == 0 || s.ID == stored
	})
	return max(at, 0)
}

// commandsIn returns the names of the commands that a shell script executes, also with sh -c in a pod.
func commandsIn(t *testing.T, script string) []string {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		t.Fatalf("%v in %s", err, script)
	}
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, is := n.(*syntax.CallExpr)
		if !is || len(call.Args) == 0 {
			return true
		}
		names = append(names, call.Args[0].Lit())
		for i := 2; i < len(call.Args); i++ {
			if call.Args[i-1].Lit() == "-c" && call.Args[i-2].Lit() == "sh" {
				names = append(names, commandsIn(t, textOf(call.Args[i]))...)
			}
		}
		return true
	})
	return names
}

// textOf returns a word without its quotes.
func textOf(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, is := inner.(*syntax.Lit); is {
					b.WriteString(lit.Value)
				}
			}
		}
	}
	return b.String()
}
