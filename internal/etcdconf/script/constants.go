// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// constant is the one literal value that a script assigns to a variable.
type constant struct {
	// value is UnknownWord if it is not literal, if there are several, or if only some ways assign
	// it.
	value string
	// at is the offset of the assignment.
	at int
}

// constant returns the value of a variable, false where the script assigns none or several to it, or has
// not assigned it yet.
func (s *Script) constant(p *syntax.ParamExp) (string, bool) {
	if p.Exp != nil && p.Exp.Op == syntax.DefaultUnsetOrNull {
		return s.withDefault(p)
	}
	name, at := plainParameter(p), int(p.Pos().Offset())
	if !isName(name) {
		return s.numbered(name, at)
	}
	if c, assigned := s.constants[name]; assigned && c.at >= max(s.from, at) {
		return "", false
	}
	return s.known(name)
}

// withDefault returns the value of a variable that is known, or the default if it is empty.
func (s *Script) withDefault(p *syntax.ParamExp) (string, bool) {
	plain := *p
	plain.Exp = nil
	value, known := s.constant(&plain)
	if !known || value != "" || p.Exp.Word == nil {
		return value, known
	}
	return Literal(p.Exp.Word)
}

// known returns the value that a variable has at the end of the script.
func (s *Script) known(name string) (string, bool) {
	if c, assigned := s.constants[name]; assigned {
		return c.value, c.value != UnknownWord
	}
	if s.around.Variable == nil || s.sourced {
		return "", false
	}
	value, ok := s.around.Variable(name)
	return value, ok && value != UnknownWord
}

// assign records what a statement assigns to variables, if all ways through the script execute it.
// Other assignments make the value unknown.
func (s *Script) assign(statement *syntax.Stmt) {
	if !statement.Background {
		switch c := statement.Cmd.(type) {
		case *syntax.Block: // a sourced file
			for _, inner := range c.Stmts {
				s.assign(inner)
			}
			return
		case *syntax.DeclClause:
			s.record(c.Args)
			return
		case *syntax.CallExpr:
			if len(c.Args) == 0 {
				s.record(c.Assigns)
				return
			}
		}
	}
	s.invalidate(statement)
}

func (s *Script) record(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name == nil && a.Value != nil { // export "$NAME=value"
			s.invalidateNames([]*syntax.Word{a.Value})
		}
		if a.Name == nil || a.Naked {
			continue
		}
		c := constant{value: UnknownWord, at: int(a.Pos().Offset())}
		switch {
		case a.Append || a.Array != nil:
		case a.Value == nil:
			c.value = ""
		default:
			if text, ok := Literal(a.Value); ok {
				c.value = text
			}
		}
		if before, set := s.constants[a.Name.Value]; set && before.value != c.value {
			c.value = UnknownWord
		} else if set {
			c.at = before.at
		}
		s.constants[a.Name.Value] = c
	}
}

// invalidate makes the variables unknown that a statement may change.
func (s *Script) invalidate(statement *syntax.Stmt) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			switch {
			case n.Name == nil && n.Value != nil: // export "$NAME=value"
				s.invalidateNames([]*syntax.Word{n.Value})
			case n.Name != nil && !n.Naked:
				s.constants[n.Name.Value] = constant{value: UnknownWord}
			}
		case *syntax.WordIter: // for NAME in …
			s.constants[n.Name.Value] = constant{value: UnknownWord}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				s.invalidateBy(withoutCommand(n.Args))
			}
		}
		return true
	})
}

// invalidateBy makes the variables unknown that a command may change.
func (s *Script) invalidateBy(args []*syntax.Word) {
	name := commandOf(args)
	if unread[name] || len(s.own.functions[name]) > 0 && s.effectsOfCall(name).any {
		s.invalidateAll()
	}
	if name == "printf" && len(args) > 2 && commandOf(args[1:]) == "-v" {
		s.invalidateNames(args[2:3])
	}
	if assigners[name] {
		s.invalidateNames(args[1:])
	}
}

// invalidateNames makes the variables unknown that arguments name, as NAME or NAME=value.
func (s *Script) invalidateNames(args []*syntax.Word) {
	for _, arg := range args {
		variable, known := Literal(arg)
		if !known {
			s.invalidateAll()
			continue
		}
		variable, _, _ = strings.Cut(variable, "=")
		s.constants[variable] = constant{value: UnknownWord}
	}
}

// invalidateAll makes all variables unknown, also those that the script inherits.
func (s *Script) invalidateAll() {
	s.sourced = true
	for variable := range s.constants {
		s.constants[variable] = constant{value: UnknownWord}
	}
}

// outcome reports whether a statement succeeds. It is known of true, false and :, and of comparisons
// of literals.
func (s *Script) outcome(statement *syntax.Stmt) (succeeds, known bool) {
	call, is := statement.Cmd.(*syntax.CallExpr)
	if !is || s.own.alias || s.own.functions[commandOf(call.Args)] != nil || statement.Background || len(statement.Redirs) > 0 || len(call.Args) == 0 {
		return false, false
	}
	args, ok := s.texts(call.Args)
	if !ok {
		return false, false
	}
	succeeds, known = builtin(args)
	return succeeds != statement.Negated, known
}

// builtin reports whether a command of the shell itself succeeds, and false for any other one.
func builtin(args []string) (succeeds, known bool) {
	switch {
	case len(args) == 1 && (args[0] == "true" || args[0] == ":"):
		return true, true
	case len(args) == 1 && args[0] == "false":
		return false, true
	case len(args) > 2 && args[0] == "[" && args[len(args)-1] == "]":
		return compared(args[1 : len(args)-1])
	case len(args) > 1 && args[0] == "test":
		return compared(args[1:])
	}
	return false, false
}

// compared returns the outcome of the arguments of the command test.
func compared(args []string) (succeeds, known bool) {
	switch {
	case len(args) == 2 && (args[0] == "-n" || args[0] == "-z"):
		return (args[1] == "") == (args[0] == "-z"), true
	case len(args) != 3:
		return false, false
	case args[1] == "=" || args[1] == "!=":
		return (args[0] == args[2]) == (args[1] == "="), true
	}
	a, err := strconv.Atoi(args[0])
	b, other := strconv.Atoi(args[2])
	does, is := map[string]bool{
		"-eq": a == b, "-ne": a != b, "-gt": a > b, "-ge": a >= b, "-lt": a < b, "-le": a <= b,
	}[args[1]]
	return does, is && err == nil && other == nil
}

// texts returns what a shell makes of the parts of a command, and false where it isn't one known text of each.
func (s *Script) texts(parts []*syntax.Word) ([]string, bool) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		text, ok := s.text(part)
		if !ok || strings.ContainsAny(text, `*?[\~{`) && text != "[" {
			return nil, false
		}
		texts[i] = text
	}
	return texts, true
}

// text returns the one text that a word is.
func (s *Script) text(word *syntax.Word) (string, bool) {
	if text, ok := Literal(word); ok {
		return text, true
	}
	fields := s.splitArg(word).argv
	if len(fields) != 1 || unknownField(fields[0]) {
		return "", false
	}
	return fields[0], true
}

// literals returns the texts of the parts of a command, and false if a shell may expand one of them.
func literals(parts []*syntax.Word) ([]string, bool) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		text, ok := Literal(part)
		if !ok || strings.ContainsAny(text, `*?[\~{`) && text != "[" {
			return nil, false
		}
		texts[i] = text
	}
	return texts, true
}

// listOutcome returns the outcome of a list of one statement. Of a longer list it is unknown.
func (s *Script) listOutcome(list []*syntax.Stmt) (succeeds, known bool) {
	if len(list) != 1 {
		return false, false
	}
	return s.outcome(list[0])
}

// matches reports whether a word matches one of the patterns of a case. It is unknown of a text that isn't
// known, and of patterns that are neither literal nor a beginning with * behind it.
func (s *Script) matches(word *syntax.Word, patterns []*syntax.Word) (match, known bool) {
	text, ok := s.text(word)
	if !ok || strings.ContainsAny(text, `\~`) {
		return false, false
	}
	known = true
	for _, p := range patterns {
		pattern, ok := Literal(p)
		switch {
		case isAny(p), ok && pattern == text && !strings.ContainsAny(pattern, `*?[\`):
			return true, known
		case ok && beginning(p) != "":
			if strings.HasPrefix(text, beginning(p)) {
				return true, known
			}
		case !ok || strings.ContainsAny(pattern, `*?[\~`):
			known = false
		}
	}
	return false, known
}

// beginning returns the text before the * of a pattern that ends with it, empty for any other pattern.
func beginning(pattern *syntax.Word) string {
	text, is := pattern.Parts[0].(*syntax.Lit)
	if !is || len(pattern.Parts) != 1 {
		return ""
	}
	before, ends := strings.CutSuffix(text.Value, "*")
	if !ends || strings.ContainsAny(before, patternMarks+"~") {
		return ""
	}
	return before
}
