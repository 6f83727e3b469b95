// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// endings are how a statement ends which always ends its script, its function or its round of a loop. They don't depend on
// the way on which the walk comes to it, and so are found once.
type endings uint8

const (
	byFailure endings = 1 << iota // exit with another code than 0
	byExit
	byReturn
	byBreak
	byContinue
)

// endKind is the result for a node: is is false where a shell may go on behind it.
type endKind struct {
	how endings
	is  bool
}

// endOf returns what follows a statement that always ends its script, its function or its round of a loop; false for any
// other one.
func (w *walk) endOf(s *syntax.Stmt) (end behind, is bool) {
	return w.behindEnding(w.script.endingOf(s))
}

// behindEnding returns what follows an ending where the walk stands.
func (w *walk) behindEnding(e endKind) (end behind, is bool) {
	if !e.is || e.how&(byBreak|byContinue) != 0 && w.loops == 0 {
		return etcdBehind, false
	}
	if e.how == 0 { // functions that call each other without an end
		return nothingBehind, true
	}
	for how, follows := range map[endings]behind{
		byFailure:  min(w.after.shell, failureBehind),
		byExit:     w.after.shell.within(),
		byReturn:   w.after.caller.within(),
		byBreak:    w.after.loop.within(),
		byContinue: w.after.round.within(),
	} {
		if e.how&how != 0 {
			end = max(end, follows)
		}
	}
	return end, true
}

// endingOf returns how a statement ends.
func (s *Script) endingOf(statement *syntax.Stmt) endKind {
	if e, done := s.own.endings[statement]; done {
		return e
	}
	if !s.work.spend(1) {
		return endKind{}
	}
	var e endKind
	if !statement.Background {
		e = s.endingOfCommand(statement.Cmd)
	}
	s.own.endings[statement] = e
	return e
}

func (s *Script) endingOfCommand(command syntax.Command) endKind {
	switch c := command.(type) {
	case *syntax.CallExpr:
		return s.endingOfCall(c)
	case *syntax.Block:
		return s.endingOfList(c.Stmts)
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return s.endingOf(c.X)
		}
	case *syntax.IfClause:
		return s.endingOfIf(c)
	case *syntax.CaseClause:
		return s.endingOfCase(c)
	}
	return endKind{}
}

// endingOfList returns how the first statement ends that does, if no way leaves the list before it.
func (s *Script) endingOfList(statements []*syntax.Stmt) endKind {
	for _, statement := range statements {
		e := s.endingOf(statement)
		if e.is || s.has(statement, "return", "break", "continue") {
			return e
		}
	}
	return endKind{}
}

// endingOfIf returns how the branches of a condition end, if all do. The rest of a chain has a result of its own.
func (s *Script) endingOfIf(c *syntax.IfClause) endKind {
	if e, done := s.own.endings[c]; done {
		return e
	}
	e := s.endingOfList(c.Then)
	switch {
	case !e.is || c.Cond == nil: // else
	case c.Else == nil || !s.work.spend(1):
		e = endKind{}
	default:
		e = e.or(s.endingOfIf(c.Else))
	}
	s.own.endings[c] = e
	return e
}

// endingOfCase returns how the branches of a case end, if all do.
func (s *Script) endingOfCase(c *syntax.CaseClause) endKind {
	all := endKind{is: true}
	for _, item := range c.Items {
		all = all.or(s.endingOfList(item.Stmts))
		if !all.is || slices.ContainsFunc(item.Patterns, isAny) {
			return all
		}
	}
	return endKind{}
}

// or returns how one of two parts ends.
func (e endKind) or(other endKind) endKind {
	if !e.is || !other.is {
		return endKind{}
	}
	return endKind{how: e.how | other.how, is: true}
}

func (s *Script) endingOfCall(c *syntax.CallExpr) endKind {
	if !s.work.spend(s.workOfCall(c)) {
		return endKind{}
	}
	from := s.from
	s.from = 0 // the constants where it stands
	argv := s.lookedUp(c)
	s.from = from
	name := firstOf(argv)
	if bodies := s.own.functions[name]; len(bodies) > 0 {
		return s.endingOfFunction(bodies)
	}
	switch {
	case name == "exit" && fails(argv[1:]):
		return endKind{how: byFailure, is: true}
	case name == "exit", name == "exec" && len(argv) > 1:
		return endKind{how: byExit, is: true}
	case name == "return":
		return endKind{how: byReturn, is: true}
	case name == "break":
		return endKind{how: byBreak, is: true}
	case name == "continue":
		return endKind{how: byContinue, is: true}
	}
	return endKind{}
}

// endingOfFunction returns how a function ends its script, if it always does. The call of a function that is being read
// ends as the function does.
func (s *Script) endingOfFunction(bodies []*syntax.Stmt) endKind {
	if len(bodies) > 1 {
		return endKind{}
	}
	body := bodies[0]
	e, done := s.own.endings[body]
	if !done {
		s.own.endings[body] = endKind{is: true}
		e = s.endingOfCommand(body.Cmd)
		s.own.endings[body] = e
	}
	return e.ofCall()
}

// ofCall returns how a function ends its script, by how its body ends.
func (e endKind) ofCall() endKind {
	if e.how&(byReturn|byBreak|byContinue) != 0 {
		return endKind{}
	}
	return e
}

// fails reports whether the arguments of exit are those of a failure.
func fails(args []string) bool {
	if len(args) == 0 {
		return false
	}
	code, err := strconv.Atoi(args[0])
	return err == nil && code != 0
}
