// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// behind is what follows a command on its ways. It decides whether a program is a preparation, or is what the
// container is for.
type behind int

const (
	// etcdBehind means that etcd may run behind the command, or runs beside it.
	etcdBehind behind = iota
	// failureBehind means that the script fails on purpose, or that another round of a loop may come to etcd: tools are a
	// preparation then. endBehind means that commands follow which aren't etcd.
	failureBehind
	endBehind
	// nothingBehind means that it is the last command of the script.
	nothingBehind
)

// within returns what follows a command that has something else than etcd behind it.
func (b behind) within() behind { return min(b, endBehind) }

// ends are what follows where a part of a script ends early.
type ends struct {
	// shell follows an exit of the process, caller a return, round the end of a round of a loop, and loop a break.
	shell, caller, round, loop behind
}

// follows returns for each of some statements what is behind it, by what is behind all of them.
func (w *walk) follows(statements []*syntax.Stmt, all behind) []behind {
	each := make([]behind, len(statements))
	for i := len(statements) - 1; i >= 0; i-- {
		s := statements[i]
		each[i] = all
		switch {
		case isSubshell(s) && w.exits(statements[i+1:]) && (all != etcdBehind || w.target != nil): // what exec starts
			each[i] = nothingBehind
		case s.Background || isCoproc(s):
			each[i] = w.beside(all)
		}
		all = w.before(s, all)
	}
	return each
}

// beside returns what follows a process that the script goes on beside. Only the last command matters for a target.
func (w *walk) beside(all behind) behind {
	if w.target != nil {
		return etcdBehind
	}
	return all.within()
}

// before returns what follows a command that a statement is behind, by what is behind the statement.
func (w *walk) before(s *syntax.Stmt, all behind) behind {
	if _, is := s.Cmd.(*syntax.FuncDecl); is {
		return w.beside(all)
	}
	if w.target != nil || w.leads(s) {
		return etcdBehind
	}
	if end, is := w.endOf(s); is {
		return end
	}
	all = all.within()
	if w.script.has(s, "return") {
		all = min(all, w.after.caller)
	}
	if w.script.has(s, "break") {
		all = min(all, w.after.loop)
	}
	if w.script.has(s, "continue") {
		all = min(all, w.after.round)
	}
	return all
}

// counted returns what counts of what follows a command: beside etcd, a program counts only as the last command.
func (w *walk) counted(follows behind) behind {
	if w.accompanies && follows < nothingBehind {
		return etcdBehind
	}
	return follows
}

// has reports whether a part of the script has one of some commands.
func (s *Script) has(part syntax.Node, commands ...string) bool {
	for _, name := range commands {
		calls := s.own.callsOf[name]
		at, _ := slices.BinarySearchFunc(calls, part.Pos().Offset(), func(c *syntax.CallExpr, from uint) int {
			return cmp.Compare(c.Pos().Offset(), from)
		})
		if at < len(calls) && contains(part, calls[at]) {
			return true
		}
	}
	return false
}
