// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainName matches the name of an alias in which a shell reads nothing else.
var plainName = regexp.MustCompile(`^[\w-]+$`)

// plainNames matches what may be such a name in a script.
var plainNames = regexp.MustCompile(`[\w-]+`)

// redefines reports whether an alias may stand for another command than it seems: one whose name the script
// has somewhere else, even as a keyword, or that isn't known.
func (s *Script) redefines(aliases []*syntax.CallExpr) bool {
	if len(aliases) == 0 {
		return false
	}
	var rest strings.Builder
	at := 0
	for _, call := range aliases {
		if from := int(call.Pos().Offset()); from >= at {
			rest.WriteString(s.Text[at:from])
			at = int(call.End().Offset())
		}
	}
	rest.WriteString(s.Text[at:])
	text := strings.ReplaceAll(rest.String(), "\\\n", "")
	others := map[string]bool{}
	for _, name := range plainNames.FindAllString(text, -1) {
		others[name] = true
	}
	return slices.ContainsFunc(aliases, func(call *syntax.CallExpr) bool {
		return slices.ContainsFunc(withoutCommand(call.Args)[1:], func(word *syntax.Word) bool {
			text, _ := Literal(word)
			name, _, _ := strings.Cut(text, "=")
			return changes(word) && (!plainName.MatchString(name) || others[name])
		})
	})
}

// changes reports whether an alias does more than to add arguments to a program of its own name, as
// etcdctl='etcdctl --cacert=/ca' does.
func changes(word *syntax.Word) bool {
	text, ok := Literal(word)
	name, value, assigns := strings.Cut(text, "=")
	first, _, _ := strings.Cut(value, " ")
	_, launches := launchers[name]
	return !ok || !assigns || name != first || name == "etcd" || launches || strings.ContainsAny(value, ";|&\n`$(")
}
