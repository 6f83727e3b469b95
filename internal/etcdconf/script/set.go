// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// setCall is what the command set does.
type setCall struct {
	// allexport and noexec are true where it may set these options.
	allexport, noexec bool
	// replaces is true where the arguments from operand on replace $1 and following. unclear is true where it isn't known
	// what replaces them.
	replaces, unclear bool
	operand           int
}

// readSet reads the arguments of set, in which UnknownWord stands for what isn't known.
func readSet(args []string) (o setCall) {
	for o.operand < len(args) {
		word := args[o.operand]
		o.operand++
		switch {
		case word == "--":
			o.replaces = true
			return o
		case strings.HasPrefix(word, UnknownWord): // it may be any options
			o.noexec, o.unclear = true, true
			return o
		case len(word) < 2 || word[0] != '-' && word[0] != '+':
			o.unclear = true
			return o
		}
		named := strings.Count(word, "o") // each takes the name of an option from the next word
		names := args[o.operand:min(o.operand+named, len(args))]
		o.operand += len(names)
		if word[0] == '-' {
			o.enable(word, names)
		}
	}
	return o
}

// enable records the options of a word and their names.
func (o *setCall) enable(word string, names []string) {
	unknown := strings.Contains(word, UnknownWord)
	o.allexport = o.allexport || strings.Contains(word, "a")
	o.noexec = o.noexec || unknown || strings.Contains(word, "n")
	o.unclear = o.unclear || unknown
	for _, name := range names {
		unknown := strings.Contains(name, UnknownWord)
		o.allexport = o.allexport || unknown || name == "allexport"
		o.noexec = o.noexec || unknown || name == "noexec"
	}
}

// textsOf returns arguments without their quotes, and UnknownWord for those that a shell expands.
func textsOf(args []*syntax.Word) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		text, known := Literal(arg)
		if out[i] = text; !known {
			out[i] = UnknownWord
		}
	}
	return out
}
