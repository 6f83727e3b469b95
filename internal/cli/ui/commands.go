// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"regexp"
	"slices"
	"strings"
)

// Given are the user's flags that a printed command needs to act on the same cluster, as the same
// user. Each flag follows a space.
type Given struct {
	// Context selects the API server and its user.
	Context string
	// Login is for connections to members, so only commands of kubectl etcd have it.
	Login string
}

// kubectlVerbs are the commands of kubectl that this program advises. Anything else after "kubectl"
// is prose, as in "kubectl drain retries".
var kubectlVerbs = []string{"annotate", "apply", "create", "delete", "describe", "edit", "get", "label", "logs", "patch", "rollout", "scale", "set", "taint", "uncordon"}

// Complete adds the flags to the commands of a text. It adds them behind the name of the program, so
// it needs to know where a command begins, and not where it ends. It changes no command that has
// the flags, and nothing in double quotes: that is quoted from another client.
func (g Given) Complete(text string) string {
	if g == (Given{}) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		g.completeLine(&b, line)
	}
	return b.String()
}

// program is where a command may begin.
var program = regexp.MustCompile("(^|[ \\t(`'=])kubectl( etcd)? ")

func (g Given) completeLine(b *strings.Builder, line string) {
	found := program.FindAllStringIndex(line, -1)
	done := 0
	for i, at := range found {
		end := len(line)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		name, rest := line[at[0]:at[1]-1], line[at[1]-1:end]
		b.WriteString(line[done : at[1]-1])
		done = at[1] - 1
		if !quoted(line, at[0]) {
			b.WriteString(g.missing(strings.HasSuffix(name, " etcd"), rest))
		}
	}
	b.WriteString(line[done:])
}

// missing returns the flags that a command lacks. rest is the text behind the name of the program.
func (g Given) missing(etcd bool, rest string) string {
	args := arguments(rest)
	if !etcd {
		if !advised(args) || has(rest, g.Context) {
			return ""
		}
		return g.Context
	}
	if !ours(args) {
		return ""
	}
	var add strings.Builder
	for _, flags := range []string{g.Context, g.Login} {
		if !has(rest, flags) {
			add.WriteString(flags)
		}
	}
	return add.String()
}

// has reports whether a text contains the flags, and not only the beginning of another value.
func has(text, flags string) bool {
	for {
		_, after, found := strings.Cut(text, flags)
		if end := strings.TrimLeft(after, ends); !found || end == "" || end[0] == ' ' || end[0] == '\n' {
			return found || flags == ""
		}
		text = after
	}
}

// ends are the characters that end a command in a sentence.
const ends = ".,:;)'`"

// arguments returns the arguments of a command, which ends with its sentence or a part of it.
func arguments(text string) []string {
	args := strings.Fields(text)
	for i, w := range args {
		if trimmed := strings.TrimRight(w, ends); trimmed != w {
			return append(slices.Clone(args[:i]), trimmed)
		}
	}
	return args
}

// advised reports whether these are the arguments of a command of kubectl.
func advised(args []string) bool {
	if len(args) > 2 && args[0] == "-n" {
		args = args[2:]
	}
	return len(args) > 1 && slices.Contains(kubectlVerbs, args[0]) && args[1] != "of" && args[1] != "the"
}

// ours reports whether these are the arguments of a command of kubectl etcd. A command has a target,
// which contains a slash or is a placeholder, or a flag; only "webhook status" and "webhook uninstall" have
// neither. Anything else is prose, as in "kubectl etcd scale removes a member".
func ours(args []string) bool {
	if len(args) == 0 || !verb.MatchString(args[0]) || slices.ContainsFunc(args, synopsis.MatchString) {
		return false
	}
	if slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "-") && w != "-" }) {
		return true
	}
	if len(args) > 1 && args[0] == "webhook" {
		return args[1] == "status" || args[1] == "uninstall"
	}
	target := 1
	if len(args) > 2 && slices.Contains(groups, args[0]) {
		target = 2
	}
	return len(args) > target && (strings.Contains(args[target], "/") || placeholder.MatchString(args[target]))
}

var (
	verb = regexp.MustCompile(`^[a-z-]+$`)
	// placeholder is what the cures of reasons have for a target.
	placeholder = regexp.MustCompile(`^(NAME|POD)$`)
	// synopsis is what only a description of a command has.
	synopsis = regexp.MustCompile(`^(--help|TARGET|\[.*)$`)
	// groups are the commands that only group others.
	groups = []string{"alarm", "member", "snapshot", "volume", "webhook"}
)

// quoted reports whether a position of a line is between two double quotes.
func quoted(line string, at int) bool {
	return strings.Count(line[:at], `"`)%2 == 1 && strings.Contains(line[at:], `"`)
}
