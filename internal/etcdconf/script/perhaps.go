// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"regexp"
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
				may = may || s.hasScriptOfEtcd(n)
				return false
			case *syntax.Stmt:
				may = may || s.writesEtcd(n, written)
			case *syntax.CallExpr:
				may = may || s.mayBeEtcd(n) || written[FileOf(s.argv(n))]
			case *syntax.Word:
				may = may || s.isScriptOfEtcd(n)
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

// isScriptOfEtcd reports whether a word is a file that the container mounts and that runs etcd as a script: a shell may get it as its
// input or by another name.
func (s *Script) isScriptOfEtcd(word *syntax.Word) bool {
	file, known := Literal(word)
	if !known || !strings.HasPrefix(file, "/") {
		return false
	}
	text, is := s.around.Read(file, true)
	return is && s.work.spend(trapWork+len(text)) && runsEtcd(text)
}

// hasScriptOfEtcd reports whether a node has such a word.
func (s *Script) hasScriptOfEtcd(node syntax.Node) (has bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		word, is := n.(*syntax.Word)
		has = has || is && s.isScriptOfEtcd(word)
		return !has && s.around.File != nil && s.work.spend(1)
	})
	return has
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
	if mayLaunchEtcd(f.Argv) || isOfAName(f.Argv) || s.executesEtcd(f.Argv) || firstOf(f.Argv) == "eval" && s.valuesAreEtcd(c) {
		return true
	}
	at := slices.IndexFunc(f.Argv, unknownField)
	if program := ProgramAt(f.Argv); at < 0 || program >= 0 && program < at {
		return false
	}
	if slices.ContainsFunc(f.Argv[at:], isEtcdProgram) || slices.ContainsFunc(f.Argv[at:], isPeerFlag) {
		return true
	}
	if strings.HasSuffix(f.Texts[at], "/etcd") || s.valuesAreEtcd(c) {
		return true
	}
	return s.expandsToEtcd(c.Args[f.args[at]])
}

// expandsToEtcd reports whether an expansion in a word may be etcd.
func (s *Script) expandsToEtcd(word *syntax.Word) (may bool) {
	syntax.Walk(word, func(node syntax.Node) bool {
		if p, is := node.(*syntax.ParamExp); is && p.Param != nil {
			may = may || s.holdsEtcd(p)
		}
		return !may
	})
	return may
}

// valuesAreEtcd reports whether a command is etcd with some of the values that its variables may have, also those of an array.
func (s *Script) valuesAreEtcd(c *syntax.CallExpr) bool {
	return slices.ContainsFunc(s.scopeOf(c).Commands(c.Args), func(fields []Value) bool {
		var text strings.Builder
		for _, field := range fields {
			text.WriteString(field.known() + " ")
		}
		return startsEtcd(strings.TrimPrefix(text.String(), "eval "))
	})
}

// executesEtcd reports whether a command that is no function and no tool may execute etcd, by its arguments.
func (s *Script) executesEtcd(argv []string) bool {
	at := ProgramAt(argv)
	if at < 0 || at >= len(argv) || s.own.functions[argv[at]] != nil {
		return false
	}
	name := path.Base(argv[at])
	return !brief[name] && !instant[name] && !diagnostics[name] && namesMember(argv[at:])
}

// runElsewhere are programs that run others on another machine, or in another container.
var runElsewhere = map[string]bool{"crictl": true, "docker": true, "helm": true, "kubectl": true, "nerdctl": true, "oc": true, "podman": true, "ssh": true}

// namesMember reports whether the arguments of a program that isn't known have the path of etcd's program, its name behind two
// dashes or before a flag that only a member has, or a script that is etcd.
func namesMember(argv []string) bool {
	if len(argv) == 0 || IsTool(argv[0]) || runElsewhere[path.Base(argv[0])] {
		return false
	}
	for i := 1; i < len(argv); i++ {
		if isMemberAt(argv, i) {
			return true
		}
	}
	return interpreters[path.Base(argv[0])] && slices.ContainsFunc(argv[1:], func(text string) bool { return mayServe(text) && quotedEtcd.MatchString(text) })
}

// isMemberAt reports whether an argument is one of those, and what follows it is no subcommand.
func isMemberAt(argv []string, i int) bool {
	rest := argv[i+1:]
	switch {
	case subcommand(rest) != "":
		return false
	case argv[i] == "etcd":
		return argv[i-1] == "--" || hasMemberFlag(rest)
	}
	return isEtcdProgram(argv[i]) || argv[i-1] == "-c" && strings.Contains(argv[i], " ") && startsEtcd(argv[i])
}

// quotedEtcd finds the name or the path of etcd's program as a text of another language.
var quotedEtcd = regexp.MustCompile(`['"](?:\S*bin/)?etcd['"\s]`)

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
