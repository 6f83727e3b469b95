// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// inspectValues inspects what a command may be by the values that its variables have on any way. A command or a
// script of which nothing is known may do anything to members.
func (w *walk) inspectValues(in scope, call *syntax.CallExpr) {
	if len(call.Args) == 0 || !in.Expands(call) {
		return
	}
	was := w.maybe
	w.maybe = true
	defer func() { w.maybe = was }()
	before := in.Script.Fields(call)
	for _, c := range in.Commands(call.Args) {
		f := script.FieldsOf(c)
		at := script.ProgramAt(f.Argv)
		if at < 0 || at >= len(c) || printing[path.Base(f.Argv[at])] {
			continue
		}
		if !slices.Equal(f.Argv, before.Argv) || !slices.Equal(f.Texts, before.Texts) {
			w.inspect(in, f)
		}
		w.evaluates(in, c[at:])
	}
}

// evaluates inspects the scripts among the fields of a command that have no spaces, and notes what is only known
// in the pod: the command itself, and the verb of etcdctl member.
func (w *walk) evaluates(in scope, c []script.Value) {
	if splits := c[0].Splits(); splits && !slices.ContainsFunc(c, isKnown) {
		w.noteUnknown(script.FieldsOf(c).Texts)
		return
	}
	for _, value := range evaluated(c) {
		if text := value.Written(); !hasSpaces(text) {
			w.nested(in, text)
		}
	}
	f := script.FieldsOf(c)
	member := slices.Index(f.Texts, "member")
	if member > in.etcdctlAt(f.Argv) && member+1 < len(c) && c[member+1].Opaque() && !slices.ContainsFunc(c[member+1:], isVerb) {
		w.noteUnknown(f.Texts)
	}
}

func isKnown(v script.Value) bool { return !v.Opaque() }

func isVerb(v script.Value) bool {
	_, is := memberVerbs[v.Written()]
	return is
}

// noteUnknown notes a command that is only known in the pod.
func (w *walk) noteUnknown(texts []string) {
	w.note(Change{Unread: "it executes a text that is only known in the pod: " + script.Cut(strings.Join(texts, " "))})
}

// evaluators are programs of which an option has a script as its value.
var evaluators = map[string]bool{"env": true, "flock": true, "runuser": true, "script": true, "su": true}

// evaluated returns the fields of a command that are scripts: the action of trap, what watch and ssh run, and what
// follows the option -c of a shell, or -S of env.
func evaluated(c []script.Value) []script.Value {
	names := script.FieldsOf(c).Argv
	switch path.Base(names[0]) {
	case "eval":
		if len(c) == 2 { // inspect has those of several fields
			return c[1:]
		}
	case "trap":
		return c[1:min(2, len(c))]
	case "ssh", "watch":
		return c[len(c)-1:]
	}
	shell := slices.IndexFunc(names, func(name string) bool { return script.IsShell(name) || evaluators[path.Base(name)] })
	for i := max(shell, 0); shell >= 0 && i < len(names)-1; i++ {
		option := names[i]
		short := strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.HasSuffix(option, "c")
		if short || option == "--command" || option == "-S" || option == "--split-string" {
			return c[i+1 : i+2]
		}
	}
	return nil
}
