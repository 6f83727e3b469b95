// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import "mvdan.cc/sh/v3/syntax"

// constant is the one literal value that a script assigns to a variable.
type constant struct {
	// value is unknownWord if it is not literal, if there are several, or if only some ways assign
	// it.
	value string
	// at is the offset of the assignment.
	at int
}

// constant returns the value of a variable, false where the script assigns none or several to it, or has
// not assigned it yet.
func (s *script) constant(p *syntax.ParamExp) (string, bool) {
	if p.Param == nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl || p.Index != nil {
		return "", false
	}
	if c, assigned := s.constants[p.Param.Value]; assigned && c.at >= max(s.from, int(p.Pos().Offset())) {
		return "", false
	}
	return s.known(p.Param.Value)
}

// known returns the value that a variable has at the end of the script.
func (s *script) known(name string) (string, bool) {
	if c, assigned := s.constants[name]; assigned {
		return c.value, c.value != unknownWord
	}
	if s.around.variable == nil {
		return "", false
	}
	value, ok := s.around.variable(name)
	return value, ok && value != unknownWord
}

// assign records what a statement assigns to variables, if all ways through the script execute it.
// Other assignments make the value unknown.
func (s *script) assign(statement *syntax.Stmt) {
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

func (s *script) record(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name == nil || a.Naked {
			continue
		}
		c := constant{value: unknownWord, at: int(a.Pos().Offset())}
		switch {
		case a.Append || a.Array != nil:
		case a.Value == nil:
			c.value = ""
		default:
			if text, ok := literal(a.Value); ok {
				c.value = text
			}
		}
		if before, set := s.constants[a.Name.Value]; set && before.value != c.value {
			c.value = unknownWord
		} else if set {
			c.at = before.at
		}
		s.constants[a.Name.Value] = c
	}
}

// invalidate makes the variables unknown that a statement may change.
func (s *script) invalidate(statement *syntax.Stmt) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				s.constants[n.Name.Value] = constant{value: unknownWord}
			}
		case *syntax.WordIter: // for NAME in …
			s.constants[n.Name.Value] = constant{value: unknownWord}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			if name, ok := literal(n.Args[0]); ok && (name == "read" || name == "unset" || name == "getopts") {
				for _, arg := range n.Args[1:] {
					if variable, ok := literal(arg); ok {
						s.constants[variable] = constant{value: unknownWord}
					}
				}
			}
		}
		return true
	})
}
