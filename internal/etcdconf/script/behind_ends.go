// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// maxEnds is how deep the end of a script is looked for in a statement.
const maxEnds = 8

// endOf returns what follows a statement that always ends its script, its function or its round of a loop; false for any
// other one.
func (w *walk) endOf(s *syntax.Stmt, depth int) (end behind, is bool) {
	if s.Background || depth == 0 || !w.script.work.spend(1) {
		return etcdBehind, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.endOfCall(c, depth)
	case *syntax.Block:
		return w.endOfAny(c.Stmts, depth)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return w.endOf(c.X, depth-1)
		}
	case *syntax.IfClause:
		return w.endOfIf(c, depth)
	case *syntax.CaseClause:
		return w.endOfCase(c, depth)
	}
	return etcdBehind, false
}

func (w *walk) endOfAny(statements []*syntax.Stmt, depth int) (end behind, is bool) {
	for _, s := range statements {
		if end, is = w.endOf(s, depth-1); is {
			return end, true
		}
		if w.has(s, "return", "break", "continue") {
			break
		}
	}
	return etcdBehind, false
}

// endOfIf returns the end of all branches of a condition.
func (w *walk) endOfIf(c *syntax.IfClause, depth int) (end behind, is bool) {
	for ; c != nil; c = c.Else {
		one, ends := w.endOfAny(c.Then, depth)
		if !ends {
			return etcdBehind, false
		}
		end = max(end, one)
		if c.Cond == nil { // else
			return end, true
		}
	}
	return etcdBehind, false
}

// endOfCase returns the end of all branches of a case.
func (w *walk) endOfCase(c *syntax.CaseClause, depth int) (end behind, is bool) {
	for _, item := range c.Items {
		one, ends := w.endOfAny(item.Stmts, depth)
		if !ends {
			return etcdBehind, false
		}
		end = max(end, one)
		if slices.ContainsFunc(item.Patterns, isAny) {
			return end, true
		}
	}
	return etcdBehind, false
}

func (w *walk) endOfCall(c *syntax.CallExpr, depth int) (end behind, is bool) {
	argv := w.lookedUp(c)
	name := firstOf(argv)
	if bodies := w.script.own.functions[name]; len(bodies) > 0 {
		return w.endOfFunction(bodies, depth)
	}
	switch {
	case name == "exit" && fails(argv[1:]):
		return min(w.after.shell, failureBehind), true
	case name == "exit", name == "exec" && len(argv) > 1:
		return w.after.shell.within(), true
	case name == "return":
		return w.after.caller.within(), true
	case (name == "break" || name == "continue") && w.loops > 0:
		return w.after.round.within(), true
	}
	return etcdBehind, false
}

// endOfFunction returns the end of the script in a function that always ends it.
func (w *walk) endOfFunction(bodies []*syntax.Stmt, depth int) (end behind, is bool) {
	if len(bodies) > 1 {
		return etcdBehind, false
	}
	inner := *w
	inner.after.caller, inner.after.round = etcdBehind, etcdBehind
	end, is = inner.endOf(bodies[0], depth-1)
	return end, is && end != etcdBehind
}

// fails reports whether the arguments of exit are those of a failure.
func fails(args []string) bool {
	if len(args) == 0 {
		return false
	}
	code, err := strconv.Atoi(args[0])
	return err == nil && code != 0
}
