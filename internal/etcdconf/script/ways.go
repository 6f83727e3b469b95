// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"mvdan.cc/sh/v3/syntax"
)

// ways are how the ways through a part of a script can end. Each field is true if some way ends
// like that.
type ways struct {
	// etcd runs etcd, and other runs another program instead of it.
	etcd, other bool
	// on continues with what follows.
	on bool
	// exit ends the process, and back returns to the caller of a function or a sourced file.
	exit, back bool
	// leaves ends a round of a loop, or the loop.
	leaves bool
	// idles ends in a last command that never ends, such as tail -f. It is another program instead of etcd, unless etcd
	// runs beside it.
	idles bool
	// beside is true if etcd runs in the background on each way that goes on.
	beside bool
}

func (w ways) or(v ways) ways {
	return ways{
		etcd: w.etcd || v.etcd, other: w.other || v.other, on: w.on || v.on, exit: w.exit || v.exit, back: w.back || v.back, leaves: w.leaves || v.leaves,
		idles: w.idles || v.idles, beside: (w.on || v.on) && (w.beside || !w.on) && (v.beside || !v.on),
	}
}

// then returns the ways through two parts, one after the other.
func (w ways) then(v ways) ways {
	if !w.on {
		return w
	}
	out := w.or(v)
	out.on, out.beside = v.on, v.on && (w.beside || v.beside)
	out.idles = w.idles || v.idles && !w.beside
	return out
}

// returned returns the ways of a function or a sourced file for its caller.
func (w ways) returned() ways {
	w.beside = w.beside && !w.back && !w.leaves
	w.on, w.back, w.leaves = w.on || w.back || w.leaves, false, false
	return w
}

// process returns the ways of a process for the one that waits for it. What it executes ends it
// alone, unless it is the last.
func (w ways) process(last bool) ways {
	ends := w.exit || w.back || w.leaves || w.other && !last
	w.on, w.beside, w.exit, w.back, w.leaves = w.on || ends, w.beside && !ends, false, false, false
	w.other = w.other && last
	return w
}

// walk follows the ways through a script.
type walk struct {
	script    *Script
	functions map[string]*syntax.Stmt
	// target is a command whose ways count as those of etcd instead, nil for etcd. errexit is true if the
	// script ends at the first command that fails, which matters for a target alone.
	target  *syntax.CallExpr
	errexit bool
	// calls bounds the functions that are followed, which may call each other. within is how
	// many functions the walk stands in.
	calls, within int
	// open are the functions that the walk stands in, and groups is how many braces.
	open   map[*syntax.Stmt]bool
	groups int
	// trap is true in the action of a trap, which may end the shell.
	trap bool
}

// maxCalls is how many calls of its own functions a script may have that are followed.
const maxCalls = 100

// SurelyRunsEtcd reports whether a script runs etcd, and no other program instead of it on any way,
// such as the other branches of an entry point for several programs. Of a script that can't be
// parsed it is not known.
func (s *Script) SurelyRunsEtcd() bool {
	if s.etcd == nil || s.own.alias {
		return false
	}
	w := &walk{script: s, functions: map[string]*syntax.Stmt{}, open: map[*syntax.Stmt]bool{}}
	s.from = 0
	all := w.list(s.Statements, true)
	s.from = len(s.Text)
	return all.etcd && !all.other && !all.idles
}

// list follows statements. They are last if nothing follows them: then a program at their end
// is what the container runs.
func (w *walk) list(statements []*syntax.Stmt, last bool) ways {
	all := ways{on: true}
	for i, s := range statements {
		all = all.then(w.statement(s, last && i == len(statements)-1 || isSubshell(s) && w.exits(statements[i+1:])))
	}
	return all
}

func isSubshell(s *syntax.Stmt) bool {
	_, is := s.Cmd.(*syntax.Subshell)
	return is
}

// exits reports whether statements only end the script.
func (w *walk) exits(statements []*syntax.Stmt) bool {
	if len(statements) == 0 {
		return false
	}
	call, is := statements[0].Cmd.(*syntax.CallExpr)
	return is && firstOf(w.lookedUp(call)) == "exit"
}

//nolint:gocyclo // one case a kind of statement
func (w *walk) statement(s *syntax.Stmt, last bool) ways {
	if !w.script.work.spend(1) {
		return ways{other: true}
	}
	if _, is := s.Cmd.(*syntax.CallExpr); s.Background && !is {
		inner := *s
		inner.Background = false
		all := w.statement(&inner, false).process(false)
		all.on = all.on || !all.etcd && !w.waits(s) // the script goes on beside one that never ends
		return all
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if bodies := w.script.own.functions[firstOf(w.lookedUp(c))]; s.Background && len(bodies) > 0 {
			return w.background(c, bodies)
		}
		return w.call(c, last && !s.Background, s.Background)
	case *syntax.Block:
		return w.block(c, last)
	case *syntax.Subshell:
		return w.list(c.Stmts, last).process(last)
	case *syntax.BinaryCmd:
		return w.binary(c, last)
	case *syntax.IfClause:
		return w.ifClause(c, last)
	case *syntax.CaseClause:
		return w.caseClause(c, last)
	case *syntax.WhileClause:
		return w.while(c)
	case *syntax.ForClause:
		return w.forClause(c)
	case *syntax.FuncDecl:
		w.functions[c.Name.Value] = c.Body
		return ways{on: true}
	case *syntax.DeclClause:
		return ways{on: true}
	case *syntax.TimeClause:
		return w.timeClause(c, last)
	}
	return w.mayFail("")
}

func (w *walk) block(c *syntax.Block, last bool) ways {
	w.groups++
	all := w.list(c.Stmts, last)
	w.groups--
	if w.within == 0 && all.back { // a sourced file, of which return ends no more
		all.on, all.beside, all.back = true, false, false
	}
	return all
}

func (w *walk) timeClause(c *syntax.TimeClause, last bool) ways {
	if c.Stmt == nil {
		return ways{on: true}
	}
	return w.statement(c.Stmt, last)
}
