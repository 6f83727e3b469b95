// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// function follows the call of a function. Of one that several ways define, or that the walk has not seen
// yet, any body may run, or none.
func (w *walk) function(c *syntax.CallExpr, bodies []*syntax.Stmt, follows behind) ways {
	name := w.script.lookedUp(c)[0]
	if w.target == nil && follows == etcdBehind && !w.script.effectsOfCall(name).ends && !w.script.work.exceeded() {
		return ways{on: true} // it logs, or the like
	}
	all := ways{}
	if seen := w.functions[name]; len(bodies) > 1 || seen == nil || w.hidden(seen) {
		all = w.mayFail("")
	}
	from := w.script.from
	w.script.from = max(from, int(c.Pos().Offset()))
	w.within++
	after := w.after
	w.after = ends{shell: after.shell, caller: follows, round: follows, loop: follows}
	for _, body := range bodies {
		switch {
		case w.open[body]: // a call of itself ends in the ways of the first call
			all = all.or(ways{on: true})
		case w.calls == maxCalls:
			all = all.or(ways{other: true})
		default:
			w.calls++
			w.open[body] = true
			all = all.or(w.statement(body, follows).returned())
			delete(w.open, body)
		}
	}
	w.within--
	w.after = after
	w.script.from = from
	return all
}

// background follows the call of a function in a process of its own. The script goes on beside one that never ends,
// unless it waits for processes.
func (w *walk) background(c *syntax.CallExpr, bodies []*syntax.Stmt, follows behind) ways {
	all := w.process(follows, func() ways { return w.function(c, bodies, follows) })
	return w.detached(all, c)
}

// lookedUp returns the fields of a command as a shell looks for it: without backslashes, and without builtin.
func (s *Script) lookedUp(c *syntax.CallExpr) []string {
	if argv, done := s.own.lookedUp[c]; done {
		return argv
	}
	argv := slices.Clone(s.argv(c))
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], `\`, "")
	}
	for len(argv) > 1 && argv[0] == "builtin" {
		argv = argv[1:]
		if len(argv) > 1 && argv[0] == "--" {
			argv = argv[1:]
		}
	}
	if _, is := s.own.plain[c]; is {
		s.own.lookedUp[c] = slices.Clip(argv)
	}
	return argv
}

// hidden reports whether a function is not defined by a statement of the script itself, which all ways
// execute.
func (w *walk) hidden(body *syntax.Stmt) bool { return !w.script.own.always[body] }

// defines records the functions that statements define which all ways execute.
func (d *definitions) defines(list []*syntax.Stmt) {
	for _, statement := range list {
		switch c := statement.Cmd.(type) {
		case *syntax.FuncDecl:
			d.always[c.Body] = true
		case *syntax.Block: // a sourced file
			if !statement.Background {
				d.defines(c.Stmts)
			}
		}
	}
}

// traps reports whether a trap may run etcd, or another program instead of it.
func (w *walk) traps(c *syntax.CallExpr) bool {
	f := w.script.Fields(c)
	if len(f.Texts) < 2 {
		return false
	}
	action := newScript(strings.ReplaceAll(f.Argv[1], UnknownWord, "x"), w.script.around)
	action.work = w.script.work
	if !action.work.spend(trapWork+len(action.Text)) || action.parse() != nil {
		return true
	}
	inner := &walk{script: action, functions: w.functions, open: w.open, calls: w.calls, within: 1, trap: true}
	all := inner.list(action.Statements, etcdBehind)
	w.calls = inner.calls
	return all.runsEtcd() || all.other
}
