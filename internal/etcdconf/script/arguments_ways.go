// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// argumentsOf follows statements, and returns the arguments behind them.
func (s *Script) argumentsOf(list []*syntax.Stmt, fields []string) []string {
	for _, statement := range list {
		fields = s.argumentsBehind(statement, fields)
	}
	return fields
}

// argumentsBehind returns the arguments behind a statement that begins with some.
func (s *Script) argumentsBehind(statement *syntax.Stmt, fields []string) []string {
	if statement.Cmd == nil {
		return fields
	}
	if behind := s.argumentsBehindCommand(statement.Cmd, fields); !statement.Background {
		return behind
	}
	return s.beginAt(statement.Cmd.End(), fields)
}

func (s *Script) argumentsBehindCommand(cmd syntax.Command, fields []string) []string {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return s.argumentsBehindCall(c, fields)
	case *syntax.DeclClause:
		return fields
	case *syntax.Block:
		return s.argumentsOf(c.Stmts, fields)
	case *syntax.Subshell:
		s.argumentsOf(c.Stmts, fields)
		return s.beginAt(c.End(), fields)
	case *syntax.FuncDecl:
		s.beginAt(c.Body.Pos(), nil)
		return s.beginAt(c.End(), fields)
	case *syntax.BinaryCmd:
		return s.argumentsBehindBoth(c, fields)
	case *syntax.IfClause:
		return s.beginAt(c.End(), s.argumentsBehindIf(c, fields))
	case *syntax.CaseClause:
		return s.argumentsBehindCase(c, fields)
	}
	if fields != nil && s.mayChangeArguments(cmd) {
		return s.beginAt(cmd.Pos(), nil)
	}
	return fields
}

func (s *Script) argumentsBehindBoth(c *syntax.BinaryCmd, fields []string) []string {
	first := s.argumentsBehind(c.X, fields)
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt { // a pipe: some shells run its last command themselves
		first = s.beginAt(c.Y.Pos(), fields)
	}
	return s.beginAt(c.End(), either(first, s.argumentsBehind(c.Y, first)))
}

func (s *Script) argumentsBehindIf(c *syntax.IfClause, fields []string) []string {
	if c == nil {
		return fields
	}
	behind := s.argumentsOf(c.Cond, fields) // none of an else
	then := s.argumentsOf(c.Then, behind)
	if c.Cond == nil {
		return then
	}
	succeeds, known := s.listOutcome(c.Cond)
	if c.Else != nil {
		s.beginAt(c.Else.Pos(), behind)
	}
	otherwise := s.argumentsBehindIf(c.Else, behind)
	switch {
	case known && succeeds:
		return then
	case known || s.ends(c.Then):
		return otherwise
	case c.Else != nil && s.ends(c.Else.Then):
		return then
	}
	return either(then, otherwise)
}

func (s *Script) argumentsBehindCase(c *syntax.CaseClause, fields []string) []string {
	behind, decided := fields, false
	for _, item := range c.Items {
		s.beginAt(item.Pos(), fields)
		then := s.argumentsOf(item.Stmts, fields)
		match, known := s.matches(c.Word, item.Patterns)
		switch {
		case fallsThrough(item):
			behind, decided = nil, true
		case decided || known && !match || s.ends(item.Stmts) && !match:
		case match:
			behind, decided = either(behind, then), true
			if known && s.onlyMatch(c, item) {
				behind = then
			}
		default:
			behind = either(behind, then)
		}
	}
	return s.beginAt(c.End(), behind)
}

// onlyMatch reports whether an item of a case is the first that its word can match.
func (s *Script) onlyMatch(c *syntax.CaseClause, item *syntax.CaseItem) bool {
	for _, before := range c.Items {
		if before == item {
			return true
		}
		if match, known := s.matches(c.Word, before.Patterns); match || !known {
			return false
		}
	}
	return false
}

// ends reports whether a list ends its script: with exit, or another program.
func (s *Script) ends(list []*syntax.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	call, is := last.Cmd.(*syntax.CallExpr)
	if !is || last.Background {
		return false
	}
	name := commandOf(call.Args)
	return s.own.functions[name] == nil && (name == "exit" || name == "exec" && len(s.argv(call)) > 1)
}

// either returns the arguments behind two ways, nil where they differ.
func either(one, other []string) []string {
	if one == nil || other == nil || !slices.Equal(one, other) {
		return nil
	}
	return one
}

// argumentsBehindCall returns the arguments behind a command. Those of a function of the script are its own.
func (s *Script) argumentsBehindCall(c *syntax.CallExpr, fields []string) []string {
	args := withoutCommand(c.Args)
	if len(args) == 0 {
		return fields
	}
	switch commandOf(args) {
	case "set":
		o := readSet(textsOf(args[1:]))
		switch {
		case o.unclear:
			return s.beginAt(c.End(), nil)
		case o.replaces:
			return s.beginAt(c.End(), s.operands(args[1+o.operand:]))
		}
		return fields
	case "shift":
		return s.beginAt(c.End(), shifted(args[1:], fields))
	}
	if fields != nil && s.mayChangeArguments(c) {
		return s.beginAt(c.End(), nil)
	}
	return fields
}
