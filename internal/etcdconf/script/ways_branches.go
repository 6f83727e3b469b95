// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// binary follows a && b, a || b and a | b. Of a pipe, either side may be etcd.
func (w *walk) binary(c *syntax.BinaryCmd, follows behind) ways {
	first := w.before(c.Y, follows)
	if first != etcdBehind && follows == etcdBehind { // Y may not run
		first = etcdBehind
	}
	if first == etcdBehind && (c.Op == syntax.OrStmt) != c.X.Negated && (c.Op == syntax.OrStmt || c.Op == syntax.AndStmt) {
		first = w.onFailure(follows)
	}
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt { // each side is a process
		return w.pipe(c, first, follows)
	}
	x := w.statement(c.X, first)
	w.pass(x)
	if succeeds, known := w.script.outcome(c.X); known {
		if succeeds != (c.Op == syntax.AndStmt) {
			return x
		}
		return x.then(w.statement(c.Y, follows))
	}
	return x.then(ways{on: true}.or(w.statement(c.Y, follows)))
}

// onFailure returns what follows a command behind which etcd only runs if it fails, by what follows in any case: a program that
// serves is then what the container is for.
func (w *walk) onFailure(follows behind) behind {
	if w.target != nil {
		return etcdBehind
	}
	return min(follows, failureBehind)
}

// pipe follows a | b. A program that reads what etcd prints is none instead of it, and neither is one that prints for etcd.
func (w *walk) pipe(c *syntax.BinaryCmd, first, follows behind) ways {
	x := w.process(first, func() ways { return w.statement(c.X, first) })
	y := w.process(follows, func() ways { return w.statement(c.Y, follows) })
	switch {
	case x.runsEtcd():
		return x
	case !y.runsEtcd():
		y.other = y.other || x.other
	}
	return y
}

func (w *walk) ifClause(c *syntax.IfClause, follows behind) ways {
	if c == nil {
		return ways{on: true}
	}
	if c.Cond == nil { // else
		return w.list(c.Then, follows)
	}
	if succeeds, known := w.script.listOutcome(c.Cond); known && succeeds {
		return w.list(c.Then, follows)
	} else if known {
		return w.ifClause(c.Else, follows)
	}
	condition := w.list(c.Cond, w.behindCondition(c, follows))
	w.pass(condition)
	return condition.then(w.list(c.Then, follows).or(w.ifClause(c.Else, follows)))
}

// behindCondition returns what follows the condition of a statement.
func (w *walk) behindCondition(c *syntax.IfClause, follows behind) behind {
	then, otherwise := w.leadsAny(c.Then), c.Else != nil && w.leads(c.Else)
	switch {
	case w.target == nil && then != otherwise && then == c.Cond[len(c.Cond)-1].Negated:
		return w.onFailure(follows)
	case w.target != nil || then || otherwise:
		return etcdBehind
	}
	if end, is := w.behindEnding(w.script.endingOfIf(c)); is {
		return end
	}
	return follows.within()
}

func (w *walk) caseClause(c *syntax.CaseClause, follows behind) ways {
	all := ways{}
	if slices.ContainsFunc(c.Items, fallsThrough) {
		for _, item := range c.Items {
			all = all.or(w.list(item.Stmts, follows))
		}
		return all.or(ways{on: true})
	}
	for _, item := range c.Items {
		match, known := w.script.matches(c.Word, item.Patterns)
		if known && !match {
			continue
		}
		all = all.or(w.list(item.Stmts, follows))
		if match || slices.ContainsFunc(item.Patterns, isAny) {
			return all
		}
	}
	return all.or(ways{on: true})
}

// fallsThrough reports whether a shell may go on from an item of a case to the next one.
func fallsThrough(item *syntax.CaseItem) bool { return item.Op != syntax.Break }

// isAny reports whether a pattern of a case matches every word. A quoted * matches itself only.
func isAny(pattern *syntax.Word) bool {
	if len(pattern.Parts) != 1 {
		return false
	}
	text, is := pattern.Parts[0].(*syntax.Lit)
	return is && text.Value == "*"
}

// neverRun returns the branches of a condition or a case that no way leads to.
func (s *Script) neverRun(node syntax.Node) (lists [][]*syntax.Stmt) {
	from := s.from
	s.from = 0 // the arguments and constants where it stands
	defer func() { s.from = from }()
	switch n := node.(type) {
	case *syntax.IfClause:
		succeeds, known := s.listOutcome(n.Cond)
		if known && succeeds && n.Else != nil {
			return [][]*syntax.Stmt{n.Else.Cond, n.Else.Then}
		} else if known && !succeeds {
			return [][]*syntax.Stmt{n.Then}
		}
	case *syntax.CaseClause:
		if slices.ContainsFunc(n.Items, fallsThrough) {
			return nil
		}
		matched := false
		for _, item := range n.Items {
			match, known := s.matches(n.Word, item.Patterns)
			if matched || known && !match {
				lists = append(lists, item.Stmts)
			}
			matched = matched || match
		}
	}
	return lists
}
