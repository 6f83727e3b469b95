// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// memberVerbs are the commands of etcdctl member, with whether they change the member list.
var memberVerbs = map[string]bool{"add": true, "remove": true, "update": true, "promote": true, "list": false}

// memberLine finds a line that may change members in a script that can't be parsed, or that is of
// another language, where they are parts of a list.
var memberLine = regexp.MustCompile(`\bmember["',\s]+(add|remove|update|promote)\b`)

// printing are commands that run nothing of what their arguments name.
var printing = map[string]bool{
	":": true, "[": true, "awk": true, "cat": true, "echo": true, "egrep": true, "fgrep": true, "grep": true, "logger": true,
	"pgrep": true, "pkill": true, "printf": true, "sed": true, "test": true, "true": true,
}

// runners are programs that run a command which stands somewhere in their arguments.
var runners = map[string]bool{
	"busybox": true, "chroot": true, "doas": true, "eval": true, "find": true, "flock": true, "nsenter": true, "parallel": true,
	"runuser": true, "setarch": true, "ssh": true, "su": true, "sudo": true, "unshare": true, "watch": true, "xargs": true,
}

// scope is a script that is inspected, and what the names in it mean.
type scope struct {
	script.Scope

	functions map[string]function
	data      *dataNames
}

// function is a function of a script.
type function struct {
	// evaluates is true where it may run its arguments as a script, and deletes where it deletes
	// what they name.
	evaluates, deletes bool
}

func newScope(in script.Scope, dirs Dirs) scope {
	data := &dataNames{dirs: slices.Clone(dirs.At), unknown: dirs.Unknown, variable: dirs.Variable, names: map[string]bool{}}
	return scope{Scope: in, functions: map[string]function{}, data: data}
}

// commands inspects each command of a script, on all ways and in its functions.
func (w *walk) commands(in scope) {
	if in.Script.Err != nil {
		w.unparsed(in.Script.Text)
	}
	if w.depth == 0 {
		w.in = in.Script
		w.trapped, w.execs = trappedIn(in.Script.Statements), execsEtcd(in.Script.Statements)
		defer func() { w.in, w.at = nil, nil }()
	}
	inTrap := w.inTrap
	defer func() { w.inTrap = inTrap }()
	for _, statement := range in.Script.Statements {
		in.learn(statement)
	}
	in.Learn()
	for _, statement := range in.Script.Statements {
		in.Visit(statement, func(s script.Scope, node syntax.Node) bool {
			here := in
			here.Scope = s
			w.inTrap = inTrap || !w.execs && w.trapped[s.Within]
			switch n := node.(type) {
			case *syntax.CallExpr:
				w.stands(n)
				w.inspect(here, here.Script.Fields(n))
				w.inspectValues(here, n)
			case *syntax.Stmt:
				w.redirected(here, n)
			case *syntax.BinaryCmd:
				w.piped(here, n)
			}
			return true
		})
	}
}

// unparsed notes what looks like a change of members in a text that isn't understood.
func (w *walk) unparsed(text string) {
	for _, m := range memberLine.FindAllStringSubmatch(text, -1) {
		w.note(Change{Verb: m[1], Unclear: true})
	}
	for _, m := range memberPath.FindAllStringSubmatch(text, -1) {
		w.note(Change{Verb: m[1], Unclear: true})
	}
}

// inspect inspects one command: whether it deletes data, whether it is etcdctl or runs it, and which of
// its arguments are scripts.
func (w *walk) inspect(in scope, c script.Fields) {
	at := script.ProgramAt(c.Argv)
	switch {
	case len(c.Argv) == 0 || at >= len(c.Argv) || at >= 0 && printing[path.Base(c.Argv[at])]:
		return
	case at < 0: // such as env -S 'A=1 SCRIPT'
		w.scripts(in, c)
		return
	}
	c = c.From(at)
	if in.wipes(c) {
		w.note(Change{})
	}
	w.restores(c.Texts)
	w.request(in, c)
	w.verb(c.Argv[min(in.etcdctlAt(c.Argv)+1, len(c.Argv)):])
	if f, is := in.functions[path.Base(c.Argv[0])]; !is || f.evaluates {
		w.scripts(in, c)
	}
}

// etcdctlAt returns the index of the word etcdctl among a program's and its arguments, their number for
// none. A function of the script, and a program that isn't known, may be etcdctl or run it.
func (in scope) etcdctlAt(argv []string) int {
	program := path.Base(argv[0])
	if _, is := in.functions[program]; is || strings.Contains(argv[0], script.UnknownWord) {
		return 0
	}
	at := slices.IndexFunc(argv, func(word string) bool {
		return path.Base(word) == "etcdctl" || runners[program] && strings.Contains(word, script.UnknownWord)
	})
	if at < 0 {
		return len(argv)
	}
	return at
}

// verb notes the change of members among the arguments of etcdctl. Options with values can stand before
// each of its arguments.
func (w *walk) verb(args []string) {
	after := false // the word member
	for _, word := range args {
		change, is := memberVerbs[word]
		switch {
		case word == "member":
			after = true
		case after && is:
			if after = false; change {
				w.note(Change{Verb: word, Perhaps: w.atStop && word == "remove" && w.perhaps()})
			}
		}
	}
}

// stands records the command of the outermost script that is inspected.
func (w *walk) stands(at *syntax.CallExpr) {
	if w.depth == 0 {
		w.at = at
	}
}
