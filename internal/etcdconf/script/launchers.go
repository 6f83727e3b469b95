// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// launcher is a program that runs another one, which follows its options and its operand.
type launcher struct {
	// short are the letters of its options, as getopt has them: with a colon behind those that have a value, and two
	// where only the same word has it. long are the names of its long options, with the same colons.
	short, long string
	// without are the options with which it runs no program. Those for its help and its version are not named.
	without string
	// resets are the options with which only the pod knows what it passes on of the environment, "*" for always.
	resets string
	// operand is the form of the operand that stands before the program, nil for none.
	operand *regexp.Regexp
	// bare launchers have no options, not even two dashes. leads is true for an operand before the options that may be
	// left out. assigns is true for assignments before the program, dash for a single dash among the options, and
	// numbers for a number as an option.
	bare, leads, assigns, dash, numbers bool
	// shell is true where the launcher starts a shell if no program is behind it.
	shell bool
	// runs reports whether the launcher runs the program behind it, nil for always.
	runs func(r launched, argv []string) bool
}

// launched is how a launcher stands in a command.
type launched struct {
	launcher

	name     string
	options  []option
	assigned []string
	// next is the index of the program. known is false for an option or an operand that the launcher doesn't have.
	next  int
	known bool
}

// UnknownWord stands for a word that only a shell in the pod can expand.
const UnknownWord = "\x00"

// ProgramAt returns the index of the program that a command runs in the end, behind launchers;
// -1 for none. A launcher with options that are not known may run anything: then it is the program.
func ProgramAt(argv []string) int {
	at := 0
	for at < len(argv) {
		r, is := launchedAt(argv, at)
		switch {
		case !is || !r.known:
			return at
		case r.has(r.without):
			return -1
		}
		at = r.next
	}
	return -1
}

// mayLaunchEtcd reports whether a command ends in a launcher of which it isn't known what it runs, or in a shell, and
// etcd or a flag that only a member has stands among the arguments of it.
func mayLaunchEtcd(argv []string) bool {
	at := ProgramAt(argv)
	if at < 0 {
		return false
	}
	_, is := launchers[path.Base(argv[at])]
	return (is || IsShell(argv[at])) && slices.ContainsFunc(argv[at+1:], func(word string) bool {
		return isPeerFlag(word) || slices.ContainsFunc(strings.Fields(word), isEtcdProgram)
	})
}

// launchedAt reads the launcher at an index of a command, false if it is none.
func launchedAt(argv []string, at int) (r launched, is bool) {
	r.name = path.Base(argv[at])
	r.launcher, is = launchers[r.name]
	if !is {
		return r, false
	}
	r.next = at + 1
	if r.leads && r.next < len(argv) && !strings.HasPrefix(argv[r.next], "-") {
		r.next++
	}
	r.readOptions(argv)
	r.readAssignments(argv)
	if r.operand != nil && r.next < len(argv) {
		r.known = r.known && (unknownField(argv[r.next]) || r.operand.MatchString(argv[r.next]))
		r.next++
	}
	if r.runs != nil || r.shell {
		r.known = r.known && r.next < len(argv) && (r.runs == nil || r.runs(r, argv))
	}
	return r, true
}

// readAssignments reads the variables that a launcher sets before its command.
func (r *launched) readAssignments(argv []string) {
	for r.assigns && r.next < len(argv) && isAssignment(argv[r.next]) {
		r.assigned = append(r.assigned, argv[r.next])
		r.next++
	}
}

// isAssignment reports whether a word is NAME=value. The value may be unknown.
func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && isName(name)
}
