// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
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
	// endings are those of the statements and the branches that were read.
	endings map[syntax.Node]endKind
	// plain are the fields of the commands that nothing expands, and lookedUp the same as a shell looks for them.
	plain    map[*syntax.CallExpr]Fields
	lookedUp map[*syntax.CallExpr][]string
	// assigns are the assignments to each variable, and jobs the statements that run in the background, by the offsets of
	// their ends.
	assigns map[string][]*syntax.Assign
	jobs    map[uint]*syntax.Stmt
	// alias is true where an alias may stand for another command than it seems.
	alias bool
	// timed are the scripts that timeout runs, which stand inline.
	timed []*syntax.Subshell
	// kills is true where the script ends processes.
	kills bool
	// values are what variables and parameters may hold on any way, nil until they are asked for.
	values *values
	// waits is true where any command of the script waits for its processes.
	waits bool
}

// define records what the script's statements define.
func (s *Script) define() {
	s.own = definitions{
		functions: map[string][]*syntax.Stmt{}, callsOf: map[string][]*syntax.CallExpr{}, always: map[*syntax.Stmt]bool{},
		each: map[string]effects{}, all: map[string]effects{}, endings: map[syntax.Node]endKind{},
		assigns: map[string][]*syntax.Assign{}, jobs: map[uint]*syntax.Stmt{},
		plain: map[*syntax.CallExpr]Fields{}, lookedUp: map[*syntax.CallExpr][]string{},
	}
	s.own.defines(s.Statements)
	var aliases []*syntax.CallExpr
	for _, statement := range s.Statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.FuncDecl:
				s.own.functions[n.Name.Value] = append(s.own.functions[n.Name.Value], n.Body)
			case *syntax.Subshell:
				if len(n.Stmts) > 0 && s.Source(n.Stmts[0]) == inTime {
					s.own.timed = append(s.own.timed, n)
				}
			case *syntax.Stmt:
				if n.Background {
					s.own.jobs[n.End().Offset()] = n
				}
			case *syntax.Assign:
				if n.Name != nil {
					s.own.assigns[n.Name.Value] = append(s.own.assigns[n.Name.Value], n)
				}
			case *syntax.CallExpr:
				if name := commandOf(n.Args); name != "" {
					s.own.callsOf[name] = append(s.own.callsOf[name], n)
				}
				switch commandOf(withoutCommand(n.Args)) {
				case "alias":
					aliases = append(aliases, n)
				case "wait":
					s.own.waits = true
				}
				s.own.kills = s.own.kills || s.endsProcesses(n.Args)
			}
			return true
		})
	}
	s.own.alias = s.redefines(aliases)
}

// commandOf returns the first word of a command, empty where it isn't literal.
func commandOf(args []*syntax.Word) string {
	if len(args) == 0 {
		return ""
	}
	word, _ := Literal(args[0])
	return strings.ReplaceAll(word, `\`, "")
}

// withoutCommand returns the arguments of a command behind those of command and builtin, and none of a command -v,
// which runs nothing.
func withoutCommand(args []*syntax.Word) []*syntax.Word {
	for len(args) > 1 && (commandOf(args) == "command" || commandOf(args) == "builtin") {
		for args = args[1:]; len(args) > 0; args = args[1:] {
			option := commandOf(args)
			if option == "--" {
				args = args[1:]
				break
			}
			if !strings.HasPrefix(option, "-") {
				break
			}
			if strings.ContainsAny(option, "vV") {
				return nil
			}
		}
	}
	return args
}
