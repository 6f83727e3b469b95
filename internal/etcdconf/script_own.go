// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// definitions are what a script itself gives a meaning to.
type definitions struct {
	// functions are the bodies of each function. A shell calls a function rather than a program of
	// the same name.
	functions map[string][]*syntax.Stmt
	// callsOf are the commands that call each function, and always are the bodies of those that all ways
	// define.
	callsOf map[string][]*syntax.CallExpr
	always  map[*syntax.Stmt]bool
	// each are the effects of the functions that were read, and all those with the functions that they call.
	each, all map[string]effects
	// alias is true where an alias may stand for another command than it seems.
	alias bool
	// kills is true where the script ends processes.
	kills bool
}

// define records what the script's statements define.
func (s *script) define() {
	s.own = definitions{
		functions: map[string][]*syntax.Stmt{}, callsOf: map[string][]*syntax.CallExpr{}, always: map[*syntax.Stmt]bool{},
		each: map[string]effects{}, all: map[string]effects{},
	}
	s.own.defines(s.statements)
	for _, statement := range s.statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.FuncDecl:
				s.own.functions[n.Name.Value] = append(s.own.functions[n.Name.Value], n.Body)
			case *syntax.CallExpr:
				if name := commandOf(n.Args); name != "" {
					s.own.callsOf[name] = append(s.own.callsOf[name], n)
				}
				switch args := withoutCommand(n.Args); commandOf(args) {
				case "alias":
					s.own.alias = s.own.alias || slices.ContainsFunc(args[1:], changes)
				case "kill":
					s.own.kills = true
				}
			}
			return true
		})
	}
}

// commandOf returns the first word of a command, empty where it isn't literal.
func commandOf(args []*syntax.Word) string {
	if len(args) == 0 {
		return ""
	}
	word, _ := literal(args[0])
	return strings.TrimPrefix(word, `\`)
}

// withoutCommand returns the arguments of a command behind those of command and builtin.
func withoutCommand(args []*syntax.Word) []*syntax.Word {
	for len(args) > 1 && (commandOf(args) == "command" || commandOf(args) == "builtin") {
		args = args[1:]
	}
	return args
}

// changes reports whether an alias does more than to add arguments to a program of its own name, as
// etcdctl='etcdctl --cacert=/ca' does.
func changes(word *syntax.Word) bool {
	text, ok := literal(word)
	name, value, assigns := strings.Cut(text, "=")
	first, _, _ := strings.Cut(value, " ")
	_, launches := launchers[name]
	return !ok || !assigns || name != first || name == "etcd" || launches || strings.ContainsAny(value, ";|&\n`$(")
}
