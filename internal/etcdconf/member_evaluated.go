// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inspectValues inspects what a command may be by the values that its variables have on any way. A command or a
// script of which nothing is known may do anything to members.
func (w *changeWalk) inspectValues(in scope, call *syntax.CallExpr) {
	if len(call.Args) == 0 || !in.expands(call) {
		return
	}
	was := w.maybe
	w.maybe = true
	defer func() { w.maybe = was }()
	before := in.script.fields(call)
	for _, c := range in.commands(call.Args) {
		f := fieldsOf(c)
		at := programAt(f.argv)
		if at < 0 || at >= len(c) || printing[path.Base(f.argv[at])] {
			continue
		}
		if !slices.Equal(f.argv, before.argv) || !slices.Equal(f.texts, before.texts) {
			w.inspect(in, f)
		}
		w.evaluates(in, c[at:])
	}
}

// expands reports whether the values of variables, or an alias, decide about a command.
func (in scope) expands(call *syntax.CallExpr) bool {
	name := commandOf(call.Args)
	_, is := literals(call.Args)
	return !is || in.values.alias[name] != nil || name == "eval"
}

func fieldsOf(c []value) fields {
	var f fields
	for _, field := range c {
		f.argv, f.texts = append(f.argv, field.beginning()), append(f.texts, field.written())
	}
	return f
}

// evaluates inspects the scripts among the fields of a command that have no spaces, and notes what is only known
// in the pod: the command itself, and the verb of etcdctl member.
func (w *changeWalk) evaluates(in scope, c []value) {
	if splits := !slices.ContainsFunc(c[0], func(p piece) bool { return !p.splits }); splits && !slices.ContainsFunc(c, isKnown) {
		w.noteUnknown(fieldsOf(c).texts)
		return
	}
	for _, script := range evaluated(c) {
		if text := script.written(); !strings.ContainsAny(text, separators) {
			w.nested(in, text)
		}
	}
	f := fieldsOf(c)
	member := slices.Index(f.texts, "member")
	if member > in.etcdctlAt(f.argv) && member+1 < len(c) && c[member+1].opaque() && !slices.ContainsFunc(c[member+1:], isVerb) {
		w.noteUnknown(f.texts)
	}
}

func isKnown(v value) bool { return !v.opaque() }

func isVerb(v value) bool {
	_, is := memberVerbs[v.written()]
	return is
}

// noteUnknown notes a command that is only known in the pod.
func (w *changeWalk) noteUnknown(texts []string) {
	found := w.found
	found.Unread = "it executes a text that is only known in the pod: " + cut(strings.Join(texts, " "), mostShown)
	w.note(found)
}

// evaluators are programs of which an option has a script as its value.
var evaluators = map[string]bool{"env": true, "flock": true, "runuser": true, "script": true, "su": true}

// evaluated returns the fields of a command that are scripts: the action of trap, what watch and ssh run, and what
// follows the option -c of a shell, or -S of env.
func evaluated(c []value) []value {
	names := fieldsOf(c).argv
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
	shell := slices.IndexFunc(names, func(name string) bool { return shells[path.Base(name)] || evaluators[path.Base(name)] })
	for i := max(shell, 0); shell >= 0 && i < len(names)-1; i++ {
		option := names[i]
		short := strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.HasSuffix(option, "c")
		if short || option == "--command" || option == "-S" || option == "--split-string" {
			return c[i+1 : i+2]
		}
	}
	return nil
}
