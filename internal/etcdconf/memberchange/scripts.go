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

// scripts inspects the arguments of a command that can be scripts, such as those of trap, su -c and
// sh -c. eval joins its arguments to one.
func (w *walk) scripts(in scope, c script.Fields) {
	if c.Argv[0] == "eval" {
		w.nested(in, strings.Join(c.Texts[1:], " "))
		return
	}
	inTrap := w.inTrap
	w.inTrap = inTrap || c.Argv[0] == "trap" && !w.execs && stops(c.Argv)
	defer func() { w.inTrap = inTrap }()
	executes := in.executesText(c.Argv[0])
	for i, text := range c.Texts {
		known := c.Argv[i]
		if strings.HasPrefix(text, "--") { // --command=SCRIPT
			_, text, _ = strings.Cut(text, "=")
			_, known, _ = strings.Cut(known, "=")
		}
		if !executes && strings.HasPrefix(known, script.UnknownWord) { // an argument such as $(dirname /x)
			continue
		}
		if hasSpaces(text) {
			w.nested(in, text)
		}
	}
}

// executesText reports whether a program may execute what is only known in the pod of its arguments: a shell, what runs another
// program, a function that does, and what isn't known itself. Any other program gets it as a name or the like.
func (in scope) executesText(program string) bool {
	name := path.Base(program)
	return script.IsShell(name) || runners[name] || evaluators[name] || name == "trap" || in.functions[name].evaluates ||
		strings.Contains(program, script.UnknownWord)
}

// hasSpaces reports whether a text has spaces or lines, as most scripts have.
func hasSpaces(text string) bool { return strings.ContainsAny(text, " \t\n") }

// nested inspects a script that stands in another one, and can use its functions and constants. It
// does so within bounds: such a script can have itself in it by a variable.
func (w *walk) nested(in scope, text string) {
	if strings.TrimSpace(text) == strings.TrimSpace(in.Script.Text) {
		return // a program that is only known in the pod
	}
	if w.left -= len(text); w.left < 0 || w.depth == maxDepth {
		w.note(Change{Unread: "a script has too many scripts in it"})
		return
	}
	key := [2]string{in.Within, text}
	if w.inspected[key] {
		return
	}
	if w.inspected == nil {
		w.inspected = map[[2]string]bool{}
	}
	w.inspected[key] = true
	w.depth++
	in.Nested(text, func(nested script.Scope) {
		in.Scope = nested
		w.commands(in)
	})
	w.depth--
}

// redirected inspects the script that a shell reads from a here-document.
func (w *walk) redirected(in scope, statement *syntax.Stmt) {
	call, is := statement.Cmd.(*syntax.CallExpr)
	if !is || len(statement.Redirs) == 0 || !readsScripts(in.Script.Fields(call).Argv) {
		return
	}
	for _, text := range in.Script.Inputs(statement) {
		w.nested(in, text)
	}
}

// readsScripts reports whether a command runs a shell, which may read a script from its input.
func readsScripts(argv []string) bool {
	at := script.ProgramAt(argv)
	if at < 0 || at >= len(argv) {
		return false
	}
	return script.IsShell(argv[at]) || runners[path.Base(argv[at])]
}

// piped inspects what a pipe gives to a command that runs it: a script to a shell, and arguments to
// xargs.
func (w *walk) piped(in scope, pipe *syntax.BinaryCmd) {
	to, is := pipe.Y.Cmd.(*syntax.CallExpr)
	if pipe.Op != syntax.Pipe && pipe.Op != syntax.PipeAll || !is {
		return
	}
	gets := in.Script.Fields(to)
	if !readsScripts(gets.Argv) {
		return
	}
	w.stands(to)
	first := firstOfPipe(pipe.X)
	if readsInput(gets.Argv) && (first == nil || !in.prints(first)) {
		w.noteUnknown([]string{in.Script.Source(pipe)})
	}
	if first == nil {
		return
	}
	gives := in.given(first)
	switch {
	case path.Base(gets.Argv[script.ProgramAt(gets.Argv)]) != "xargs":
		w.nested(in, strings.Join(gives.Texts, " "))
		for _, text := range in.Script.Inputs(first) {
			w.nested(in, text)
		}
	case !narrows(gives.Texts):
		for _, text := range in.Script.Inputs(first) {
			added := strings.Fields(text)
			gives.Argv, gives.Texts = append(gives.Argv, added...), append(gives.Texts, added...)
		}
		w.inspect(in, script.Fields{Argv: append(gets.Argv, gives.Argv...), Texts: append(gets.Texts, gives.Texts...)})
	}
}

// readsInput reports whether a command is a shell that reads its script from its input.
func readsInput(argv []string) bool {
	at := script.ProgramAt(argv)
	operand, _ := script.ShellOptions(argv[at+1:])
	operand += at + 1
	return script.IsShell(argv[at]) && (operand >= len(argv) || slices.Contains(argv[at+1:operand], "-s"))
}

// prints reports whether the script shows what a command prints.
func (in scope) prints(first *syntax.Stmt) bool {
	name := in.Script.Fields(first.Cmd.(*syntax.CallExpr)).Program() //nolint:forcetypeassert // firstOfPipe returns no other
	return name == "echo" || name == "printf" || len(in.Script.Inputs(first)) > 0
}

// given returns the arguments of the first command of a pipe, which it may print.
func (in scope) given(first *syntax.Stmt) script.Fields {
	gives := in.Script.Fields(first.Cmd.(*syntax.CallExpr)) //nolint:forcetypeassert // firstOfPipe returns no other
	return gives.From(min(1, len(gives.Argv)))
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
