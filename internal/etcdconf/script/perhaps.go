// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// mayRunEtcd reports whether a script without a command that is known to be etcd executes a name that only the pod knows,
// and etcd is among the values of that name, or stands in the arguments. Any other name that isn't known shows nothing:
// most scripts execute some.
func (s *Script) mayRunEtcd() (may bool) {
	written := map[string]bool{}
	for _, statement := range s.Statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			case *syntax.Stmt:
				may = may || s.writesEtcd(n, written)
			case *syntax.CallExpr:
				may = may || s.mayBeEtcd(n) || written[FileOf(s.argv(n))]
			}
			return !may && s.work.spend(1)
		})
	}
	return may
}

// writesEtcd reports whether a shell reads a here-document which runs etcd. It records the file that gets such a document.
func (s *Script) writesEtcd(statement *syntax.Stmt, written map[string]bool) bool {
	call, is := statement.Cmd.(*syntax.CallExpr)
	runs := func(text string) bool { return s.work.spend(trapWork+len(text)) && runsEtcd(text) }
	if !is || !slices.ContainsFunc(s.Inputs(statement), runs) {
		return false
	}
	for _, r := range statement.Redirs {
		if r.Word == nil {
			continue
		}
		if file, ok := Literal(r.Word); ok && (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) {
			written[file] = true
		}
	}
	argv := s.argv(call)
	for _, word := range argv { // tee FILE
		written[word] = true
	}
	at := ProgramAt(argv)
	return at >= 0 && IsShell(argv[at])
}

// runsEtcd reports whether a text runs etcd as a script.
func runsEtcd(text string) bool {
	s := newScript(text, Surroundings{})
	if s.parse() != nil {
		return false
	}
	for _, statement := range s.Statements {
		s.find(statement, false)
	}
	return s.program == "etcd"
}

// mayBeEtcd reports whether a command may run etcd.
func (s *Script) mayBeEtcd(c *syntax.CallExpr) bool {
	f := s.Fields(c)
	if mayLaunchEtcd(f.Argv) || isOfAName(f.Argv) {
		return true
	}
	at := slices.IndexFunc(f.Argv, unknownField)
	if program := ProgramAt(f.Argv); at < 0 || program >= 0 && program < at {
		return false
	}
	if slices.ContainsFunc(f.Argv[at:], isEtcdProgram) || slices.ContainsFunc(f.Argv[at:], isPeerFlag) {
		return true
	}
	name := c.Args[f.args[at]]
	may := false
	syntax.Walk(name, func(node syntax.Node) bool {
		if p, is := node.(*syntax.ParamExp); is && p.Param != nil {
			may = may || s.holdsEtcd(p)
		}
		return !may
	})
	return may
}

// isEtcdProgram reports whether a word is the name of etcd's program, and not that of a folder.
func isEtcdProgram(word string) bool {
	return word == "etcd" || strings.HasSuffix(word, "bin/etcd")
}

// holdsEtcd reports whether an expansion may be etcd: by its default, an assignment, the environment, or an argument.
//
//nolint:gocyclo // one case a source of values
func (s *Script) holdsEtcd(p *syntax.ParamExp) bool {
	if p.Exp != nil && p.Exp.Word != nil {
		if text, ok := Literal(p.Exp.Word); ok && startsEtcd(text) {
			return true
		}
	}
	name := p.Param.Value
	if !isName(name) {
		return slices.ContainsFunc(s.given, isEtcdProgram) || s.passesEtcd()
	}
	if s.around.Variable != nil {
		if value, ok := s.around.Variable(name); ok && startsEtcd(value) {
			return true
		}
	}
	return s.anyNode(func(node syntax.Node) bool {
		a, is := node.(*syntax.Assign)
		if !is || a.Name == nil || a.Name.Value != name || a.Value == nil || a.Append {
			return false
		}
		text, ok := s.text(a.Value)
		return ok && startsEtcd(text)
	})
}

// startsEtcd reports whether a text that a shell splits into a command is etcd.
func startsEtcd(text string) bool { return etcdAt(strings.Fields(text)) >= 0 }

// passesEtcd reports whether the script gives etcd's program to itself with set, or to one of its functions.
func (s *Script) passesEtcd() bool {
	return s.anyNode(func(node syntax.Node) bool {
		c, is := node.(*syntax.CallExpr)
		if !is || len(c.Args) == 0 {
			return false
		}
		name := commandOf(c.Args)
		return (name == "set" || s.own.functions[name] != nil) && slices.ContainsFunc(s.argv(c)[1:], isEtcdProgram)
	})
}

// anyNode reports whether a condition holds for a node of the script, as far as the bounds of work allow.
func (s *Script) anyNode(holds func(syntax.Node) bool) (any bool) {
	for _, statement := range s.Statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			any = any || node != nil && holds(node)
			return !any && s.work.spend(1)
		})
	}
	return any
}
