// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scripts inspects the arguments of a command that can be scripts, such as those of trap, su -c and
// sh -c. eval joins its arguments to one.
func (w *changeWalk) scripts(in scope, c fields) {
	if c.argv[0] == "eval" {
		w.nested(in, strings.Join(c.texts[1:], " "))
		return
	}
	for _, text := range c.texts {
		if strings.HasPrefix(text, "--") { // --command=SCRIPT
			_, text, _ = strings.Cut(text, "=")
		}
		if strings.ContainsAny(text, separators) {
			w.nested(in, text)
		}
	}
}

// nested inspects a script that stands in another one, and can use its functions and constants. It
// does so within bounds: such a script can have itself in it by a variable.
func (w *changeWalk) nested(in scope, text string) {
	if strings.TrimSpace(text) == strings.TrimSpace(in.script.text) {
		return // a program that is only known in the pod
	}
	if w.left -= len(text); w.left < 0 || w.depth == maxMountedDepth {
		unread := w.found
		unread.Unread = "a script has too many scripts in it"
		w.note(unread)
		return
	}
	key := [2]string{in.within, text}
	if w.inspected[key] {
		return
	}
	if w.inspected == nil {
		w.inspected = map[[2]string]bool{}
	}
	w.inspected[key] = true
	around := in.script.around
	around.variable = in.script.known
	s := newScript(text, around)
	s.spent = in.script.spent
	w.depth++
	w.walk(scope{script: s, functions: in.functions, data: in.data, values: in.values, within: in.within})
	w.depth--
	in.script.spent = s.spent
}

// redirected inspects the script that a shell reads from a here-document.
func (w *changeWalk) redirected(in scope, statement *syntax.Stmt) {
	call, is := statement.Cmd.(*syntax.CallExpr)
	if !is || len(statement.Redirs) == 0 || !readsScripts(in.script.argv(call)) {
		return
	}
	for _, text := range in.inputs(statement) {
		w.nested(in, text)
	}
}

// inputs returns the texts that stand in a script as the input of a statement.
func (in scope) inputs(statement *syntax.Stmt) (texts []string) {
	for _, r := range statement.Redirs {
		switch {
		case r.Hdoc != nil:
			texts = append(texts, in.script.between(r.Hdoc, r.Hdoc))
		case r.Op == syntax.WordHdoc && r.Word != nil:
			texts = append(texts, strings.Join(in.script.splitArg(r.Word).texts, " "))
		}
	}
	return texts
}

// readsScripts reports whether a command runs a shell, which may read a script from its input.
func readsScripts(argv []string) bool {
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return false
	}
	program := path.Base(argv[at])
	return shells[program] || runners[program]
}

// piped inspects what a pipe gives to a command that runs it: a script to a shell, and arguments to
// xargs.
func (w *changeWalk) piped(in scope, pipe *syntax.BinaryCmd) {
	to, is := pipe.Y.Cmd.(*syntax.CallExpr)
	if pipe.Op != syntax.Pipe && pipe.Op != syntax.PipeAll || !is {
		return
	}
	gets := in.script.fields(to)
	if !readsScripts(gets.argv) {
		return
	}
	w.stands(to)
	first := firstOfPipe(pipe.X)
	if readsInput(gets.argv) && (first == nil || !in.prints(first)) {
		w.noteUnknown([]string{in.script.between(pipe, pipe)})
	}
	if first == nil {
		return
	}
	gives := in.given(first)
	switch {
	case path.Base(gets.argv[programAt(gets.argv)]) != "xargs":
		w.nested(in, strings.Join(gives.texts, " "))
		for _, text := range in.inputs(first) {
			w.nested(in, text)
		}
	case !narrows(gives.texts):
		for _, text := range in.inputs(first) {
			added := strings.Fields(text)
			gives.argv, gives.texts = append(gives.argv, added...), append(gives.texts, added...)
		}
		w.inspect(in, fields{argv: append(gets.argv, gives.argv...), texts: append(gets.texts, gives.texts...)})
	}
}

// readsInput reports whether a command is a shell that reads its script from its input.
func readsInput(argv []string) bool {
	at := programAt(argv)
	o := shellOptions(argv[at+1:])
	return shells[path.Base(argv[at])] && (at+1+o.operand >= len(argv) || slices.Contains(argv[at+1:at+1+o.operand], "-s"))
}

// prints reports whether the script shows what a command prints.
func (in scope) prints(first *syntax.Stmt) bool {
	name := firstOf(in.script.argv(first.Cmd.(*syntax.CallExpr))) //nolint:forcetypeassert // firstOfPipe returns no other
	return name == "echo" || name == "printf" || len(in.inputs(first)) > 0
}

// given returns the arguments of the first command of a pipe, which it may print.
func (in scope) given(first *syntax.Stmt) fields {
	gives := in.script.fields(first.Cmd.(*syntax.CallExpr)) //nolint:forcetypeassert // firstOfPipe returns no other
	return gives.from(min(1, len(gives.argv)))
}

// firstOfPipe returns the first command of a pipe, nil where it isn't a simple one.
func firstOfPipe(statement *syntax.Stmt) *syntax.Stmt {
	for {
		switch c := statement.Cmd.(type) {
		case *syntax.CallExpr:
			if len(c.Args) == 0 {
				return nil
			}
			return statement
		case *syntax.BinaryCmd:
			statement = c.X
		default:
			return nil
		}
	}
}
