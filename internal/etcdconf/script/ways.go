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
	// beside is true if etcd runs in the background on each way that goes on, and runs on some way. The script may end it:
	// kills is true if each way that goes on has ended processes, and mayKill on some way.
	beside, runs, kills, mayKill bool
}

// continues reports whether some way comes to what follows a list, a function or a loop.
func (w ways) continues() bool { return w.on || w.back || w.leaves }

func (w ways) or(v ways) ways {
	return ways{
		etcd: w.etcd || v.etcd, other: w.other || v.other, on: w.on || v.on, exit: w.exit || v.exit, back: w.back || v.back, leaves: w.leaves || v.leaves,
		runs: w.runs || v.runs, mayKill: w.mayKill || v.mayKill, kills: w.bothKill(v),
		idles: w.idles || v.idles, beside: w.bothBeside(v),
	}
}

// bothBeside reports whether etcd runs in the background on each of the ways of either part that go on.
func (w ways) bothBeside(v ways) bool {
	return (w.on || v.on) && (w.beside || !w.on) && (v.beside || !v.on)
}

// bothKill reports whether each of the ways of either part that go on has ended processes.
func (w ways) bothKill(v ways) bool {
	return (w.kills || v.kills) && (w.kills || !w.continues()) && (v.kills || !v.continues())
}

// then returns the ways through two parts, one after the other.
func (w ways) then(v ways) ways {
	if !w.on {
		return w
	}
	out := w.or(v)
	out.on, out.beside = v.on, v.on && (w.beside && !v.mayKill || v.beside)
	out.runs = w.runs && !v.kills || v.runs
	out.kills = w.kills || v.kills && !w.back && !w.leaves
	out.idles = w.idles || v.idles && !w.beside
	return out
}

// returned returns the ways of a function or a sourced file for its caller.
func (w ways) returned() ways {
	w.beside = w.beside && !w.back && !w.leaves
	w.on, w.back, w.leaves = w.on || w.back || w.leaves, false, false
	return w
}

// process returns the ways of a process for the one that waits for it. What it executes instead of etcd ends it alone
// if etcd follows.
func (w ways) process(follows behind) ways {
	instead := follows != etcdBehind
	ends := w.exit || w.back || w.leaves || w.other && !instead
	w.on, w.beside, w.exit, w.back, w.leaves = w.on || ends, w.beside && !ends, false, false, false
	w.other = w.other && instead
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
	// loops is how many loops the walk stands in.
	loops int
	// apart is true in a process that is not the script's own, and aborting, unset and readonly where the script has the
	// options errexit and nounset, or variables that can't be assigned: see mayAbort.
	apart, aborting, unset, readonly bool
	// trap is true in the action of a trap, which may end the shell.
	trap bool
	// toEtcd are the offsets of the commands that lead to etcd, and after is what follows where a part of the script ends early.
	toEtcd []uint
	after  ends
	// accompanies is true where etcd runs in the background. Another program beside it is none instead of it, unless it is the
	// last command. running is true where some way has such an etcd, and others are the variables of which isOther was asked.
	accompanies, running bool
	others               map[string]bool
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
	w := &walk{script: s, functions: map[string]*syntax.Stmt{}, open: map[*syntax.Stmt]bool{}, toEtcd: s.entriesToEtcd()}
	w.aborting, w.unset, w.readonly = setsErrexit.MatchString(s.Text), setsNounset.MatchString(s.Text), setsReadonly.MatchString(s.Text)
	w.after = ends{shell: nothingBehind, caller: nothingBehind, round: nothingBehind, loop: nothingBehind}
	s.from = 0
	all := w.list(s.Statements, nothingBehind)
	s.from = len(s.Text)
	return all.runsEtcd() && !all.other && !all.idles
}

// list follows statements, with what is behind them: a program behind which etcd never runs is what the container is
// for.
func (w *walk) list(statements []*syntax.Stmt, follows behind) ways {
	defer w.setBeside(w.besides())
	all := ways{on: true}
	for i, each := range w.follows(statements, follows) {
		before := w.besides()
		one := w.statement(statements[i], each)
		w.setBeside(before)
		w.pass(one)
		all = all.then(one)
	}
	return all
}

func isSubshell(s *syntax.Stmt) bool {
	_, is := s.Cmd.(*syntax.Subshell)
	return is
}

func isCoproc(s *syntax.Stmt) bool {
	_, is := s.Cmd.(*syntax.CoprocClause)
	return is
}

// exits reports whether statements only end the script.
func (w *walk) exits(statements []*syntax.Stmt) bool {
	if len(statements) == 0 {
		return false
	}
	call, is := statements[0].Cmd.(*syntax.CallExpr)
	return is && firstOf(w.script.lookedUp(call)) == "exit"
}

// statement follows a statement, which may also end its process by an error.
func (w *walk) statement(s *syntax.Stmt, follows behind) ways {
	all := w.ways(s, follows)
	if w.mayAbort(s) {
		all = all.or(ways{exit: true, etcd: w.running})
	}
	if call, is := s.Cmd.(*syntax.CallExpr); is && s.Background && w.target == nil && w.mayNotExpand(call) {
		all = all.or(ways{on: true}) // the process of this command alone ends
	}
	return all
}

//nolint:gocyclo // one case a kind of statement
func (w *walk) ways(s *syntax.Stmt, follows behind) ways {
	if !w.script.work.spend(1) {
		return ways{other: true}
	}
	if _, is := s.Cmd.(*syntax.CallExpr); s.Background && !is {
		inner := *s
		inner.Background = false
		all := w.process(follows, func() ways { return w.statement(&inner, follows) })
		return w.detached(all, s) // the script goes on beside one that never ends
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, follows, s.Background)
	case *syntax.Block:
		return w.block(c, follows)
	case *syntax.Subshell:
		return w.process(follows, func() ways { return w.list(c.Stmts, follows) })
	case *syntax.BinaryCmd:
		return w.binary(c, follows)
	case *syntax.IfClause:
		return w.ifClause(c, follows)
	case *syntax.CaseClause:
		return w.caseClause(c, follows)
	case *syntax.WhileClause:
		return w.while(c, follows)
	case *syntax.ForClause:
		return w.forClause(c, follows)
	case *syntax.FuncDecl:
		w.functions[c.Name.Value] = c.Body
		return ways{on: true}
	case *syntax.DeclClause:
		return ways{on: true}
	case *syntax.TimeClause:
		return w.timeClause(c, follows)
	case *syntax.CoprocClause:
		inner := *c.Stmt
		inner.Background = true
		return w.statement(&inner, follows)
	}
	return w.mayFail("")
}

// process follows a part of the script that is a process of its own.
func (w *walk) process(follows behind, part func() ways) ways {
	follows = w.counted(follows)
	defer func(before bool) { w.apart = before }(w.apart)
	w.apart = true
	defer w.setBeside(w.besides())
	w.running = false // an exit ends the process alone
	defer func(before ends) { w.after = before }(w.after)
	w.after = ends{shell: follows, caller: follows, round: follows, loop: follows}
	return part().process(follows)
}

func (w *walk) block(c *syntax.Block, follows behind) ways {
	w.groups++
	caller := w.after.caller
	if w.within == 0 || w.isSourced(c) {
		w.after.caller = follows
	}
	all := w.list(c.Stmts, follows)
	w.after.caller = caller
	w.groups--
	if w.within == 0 && all.back { // a sourced file, of which return ends no more
		all.on, all.beside, all.back = true, false, false
	}
	return all
}

// isSourced reports whether a block is a file or a text that a script executes itself: see [splicer.replace].
func (w *walk) isSourced(c *syntax.Block) bool {
	return len(c.Stmts) > 0 && w.script.Source(c.Stmts[0]) == ":" && c.Stmts[0].Pos().Line() == c.Lbrace.Line()
}

func (w *walk) timeClause(c *syntax.TimeClause, follows behind) ways {
	if c.Stmt == nil {
		return ways{on: true}
	}
	return w.statement(c.Stmt, follows)
}
