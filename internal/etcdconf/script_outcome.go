// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// outcome returns whether a statement succeeds. It is known of true, false and :, and of comparisons
// of literals.
func (s *script) outcome(statement *syntax.Stmt) (succeeds, known bool) {
	call, is := statement.Cmd.(*syntax.CallExpr)
	if !is || statement.Background || len(statement.Redirs) > 0 || len(call.Args) == 0 {
		return false, false
	}
	args, ok := literals(call.Args)
	if !ok {
		return false, false
	}
	succeeds, known = builtin(args)
	return succeeds != statement.Negated, known
}

// builtin returns whether a command of the shell itself succeeds, and false for any other one.
func builtin(args []string) (succeeds, known bool) {
	switch {
	case len(args) == 1 && (args[0] == "true" || args[0] == ":"):
		return true, true
	case len(args) == 1 && args[0] == "false":
		return false, true
	case len(args) == 5 && args[0] == "[" && args[4] == "]", len(args) == 4 && args[0] == "test":
		equal, comparison := args[1] == args[3], args[2] == "=" || args[2] == "!="
		return comparison && equal == (args[2] == "="), comparison
	}
	return false, false
}

// literals returns the texts of the parts of a command, and false if a shell may expand one of them.
func literals(parts []*syntax.Word) ([]string, bool) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		text, ok := literal(part)
		if !ok || strings.ContainsAny(text, `*?[\~{`) && text != "[" {
			return nil, false
		}
		texts[i] = text
	}
	return texts, true
}

// listOutcome is the outcome of a list of one statement. Of a longer list it is unknown.
func (s *script) listOutcome(list []*syntax.Stmt) (succeeds, known bool) {
	if len(list) != 1 {
		return false, false
	}
	return s.outcome(list[0])
}

// matches reports whether a literal word matches one of the patterns of a case. It is unknown of
// other texts, and of patterns that are neither literal nor *.
func matches(word *syntax.Word, patterns []*syntax.Word) (match, known bool) {
	text, ok := literal(word)
	if !ok || strings.ContainsAny(text, `\~`) {
		return false, false
	}
	known = true
	for _, p := range patterns {
		pattern, ok := literal(p)
		switch {
		case isAny(p), ok && pattern == text && !strings.ContainsAny(pattern, `*?[\`):
			return true, known
		case !ok || strings.ContainsAny(pattern, `*?[\~`):
			known = false
		}
	}
	return false, known
}
