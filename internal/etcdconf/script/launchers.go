// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"
)

// launcher is a program that runs another one, which follows its options and operands.
type launcher struct {
	// values are the options whose value is the next word.
	values []string
	// operands is how many arguments follow the options, before the program.
	operands int
	// without are the letters of options with which it runs no program.
	without string
}

// launchers are those with which etcd is started, by name.
var launchers = map[string]launcher{
	"exec": {values: []string{"-a"}}, "command": {without: "vV"}, "nohup": {}, "setsid": {}, "catatonit": {},
	"tini":      {values: []string{"-p", "-e"}},
	"dumb-init": {values: []string{"-r", "--rewrite"}},
	"env":       {values: []string{"-u", "--unset", "-C", "--chdir", "-S", "--split-string", "-vS", "-iS"}},
	"nice":      {values: []string{"-n", "--adjustment"}},
	"ionice":    {values: []string{"-c", "--class", "-n", "--classdata"}, without: "pPu"},
	"chrt": {
		values: []string{"-T", "--sched-runtime", "-P", "--sched-period", "-D", "--sched-deadline"}, operands: 1, without: "p",
	},
	"taskset": {operands: 1, without: "p"},
	"numactl": {values: []string{
		"-C", "--physcpubind", "-N", "--cpunodebind", "-m", "--membind", "-i", "--interleave", "-p", "--preferred",
	}},
	"stdbuf":  {values: []string{"-i", "--input", "-o", "--output", "-e", "--error"}},
	"timeout": {values: []string{"-k", "--kill-after", "-s", "--signal"}, operands: 1},
	"chroot":  {values: []string{"--userspec", "--groups"}, operands: 1},
	"gosu":    {operands: 1},
	"su-exec": {operands: 1},
	"setpriv": {values: []string{
		"--reuid", "--ruid", "--euid", "--regid", "--rgid", "--egid", "--groups", "--inh-caps", "--ambient-caps", "--bounding-set", "--securebits", "--pdeathsig",
	}},
}

// UnknownWord stands for a word that only a shell in the pod can expand.
const UnknownWord = "\x00"

// ProgramAt returns the index of the program that a command runs in the end, behind launchers;
// -1 for none.
func ProgramAt(argv []string) int {
	at := 0
	for at < len(argv) {
		l, is := launchers[path.Base(argv[at])]
		if !is {
			return at
		}
		next := l.skip(argv, at+1)
		if l.runsNothing(argv[at+1 : min(next, len(argv))]) {
			return -1
		}
		at = next + l.operands
	}
	return -1
}

// runsNothing reports whether a launcher runs no program, by what stands before the program.
func (l launcher) runsNothing(before []string) bool {
	return l.without != "" && slices.ContainsFunc(before, func(word string) bool {
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, l.without)
	})
}

// skip returns the index of the first word behind a launcher's options and the assignments that
// follow them.
func (l launcher) skip(argv []string, at int) int {
	for ; at < len(argv); at++ {
		word := argv[at]
		switch {
		case word == "--":
			return at + 1
		case strings.HasPrefix(word, "-") && len(word) > 1:
			if slices.Contains(l.values, word) {
				at++
			}
		case !isAssignment(word):
			return at
		}
	}
	return at
}

// isAssignment reports whether a word is NAME=value. The value may be unknown.
func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && isName(name)
}
