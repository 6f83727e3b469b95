// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package memberchange finds what the commands of a pod do to the members of its cluster: which of them
// change the member list, and which delete a member's data. It reads their scripts by package script, on
// all ways, and executes nothing. Only etcdconf calls it, with what a container's commands can use.
package memberchange

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// Change is a command that changes the member list of a cluster, or deletes a member's data.
type Change struct {
	// Verb is add, remove, update or promote of etcdctl member; empty for a command that deletes
	// data.
	Verb string
	// Unclear is true where the script can't be parsed, and a line of it looks like such a command.
	Unclear bool
	// Perhaps is true for a removal before the pod stops to which not all ways of its script lead, or of
	// which that is not known.
	Perhaps bool
	// Unread is why a script that the command runs could not be read. What that script does to
	// members is unknown, and Verb is empty.
	Unread string
	// Trapped is true for a command that a trap of the script runs when it is to stop.
	Trapped bool
}

// Find returns what a command of a container does to members, once for each verb, and which of its
// scripts can't be read. atStop is true for a command that runs before the pod stops. dirs are the
// folders of the members' data.
func Find(argv []string, atStop bool, dirs Dirs, around script.Surroundings) []Change {
	w := walk{around: around, dirs: dirs, atStop: atStop, left: script.MaxBytes}
	w.args(argv)
	if around.Unread == nil {
		return w.all
	}
	for _, why := range *around.Unread {
		w.note(Change{Unread: why})
	}
	*around.Unread = nil
	return w.all
}

// maxDepth is how many scripts in scripts are inspected.
const maxDepth = 8

// walk collects the changes of members in one command of a container.
type walk struct {
	around script.Surroundings
	dirs   Dirs
	atStop bool
	all    []Change
	// restored are the lists of members that snapshots are restored with.
	restored []string
	// left is how many bytes of scripts in scripts may still be inspected, and depth is how many
	// scripts the walk stands in.
	left, depth int
	// inspected are the scripts in scripts that were inspected, each with the function that it is in.
	inspected map[[2]string]bool
	// in is the outermost script, and at the command of it that is inspected, nil for none. errexit is
	// true if an option of its shell is -e. searched counts the commands that were searched on its ways.
	in       *script.Script
	at       *syntax.CallExpr
	errexit  bool
	searched int
	// direct is true for a command that no shell runs. maybe is true for what a command may be by the values of
	// variables.
	direct, maybe bool
	// trapped are the functions that traps call when the script is to stop. inTrap is true in one of them, and in the action of
	// such a trap.
	trapped map[string]bool
	// execs is true if etcd replaces the shell of the script, which then runs no trap.
	execs  bool
	inTrap bool
}

// note adds a change once. One that surely happens replaces one that perhaps does.
func (w *walk) note(m Change) {
	m.Trapped = w.inTrap && !w.atStop
	for i := range w.all {
		same := m
		if same.Perhaps = w.all[i].Perhaps; same == w.all[i] {
			w.all[i].Perhaps = same.Perhaps && m.Perhaps
			return
		}
	}
	w.all = append(w.all, m)
}

// args inspects the program of a command, and the script that it runs.
func (w *walk) args(argv []string) {
	argv = script.Unfolded(argv)
	at := script.ProgramAt(argv)
	if at < 0 || at >= len(argv) {
		return
	}
	in := newScope(script.Open("", nil, w.around), w.dirs)
	if !script.IsShell(argv[at]) {
		w.direct = true
		w.inspect(in, script.Fields{Argv: argv, Texts: argv})
		w.direct = false
		w.file(argv[at], argv[at+1:])
		if file := script.FileOf(argv); file != "" && file != argv[at] {
			w.file(file, nil)
		}
		return
	}
	operand, command := script.ShellOptions(argv[at+1:])
	operand += at + 1
	w.errexit = optionErrexit(argv[at+1 : min(operand, len(argv))])
	if operand >= len(argv) {
		return
	}
	w.inspect(in, script.Fields{Argv: argv[operand+1:], Texts: argv[operand+1:]})
	if command {
		w.script(argv[operand], argv[min(operand+2, len(argv)):]) // the first argument is $0
	} else if text, ok := w.around.Read(script.OperandOfShell(argv[operand]), false); ok {
		w.script(text, argv[operand+1:])
	}
}

// file inspects a program that is a script of a ConfigMap, with its arguments.
func (w *walk) file(at string, args []string) {
	text, ok := w.around.Read(at, false)
	switch {
	case !ok:
	case script.RunsInShell(text):
		w.script(text, args)
	default:
		w.unparsed(text)
	}
}

// script inspects each command of a script, with the scripts that it executes, and its arguments.
func (w *walk) script(text string, args []string) {
	w.commands(newScope(script.Open(text, args, w.around), w.dirs))
}
