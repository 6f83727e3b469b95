// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// mayEnd reports whether a command may end its shell, or change what other commands are, in a way that is not
// followed: a signal to the shell itself, another builtin of a name, or a name that a shell expands.
func (w *walk) mayEnd(c *syntax.CallExpr, name string, args []string) bool {
	switch name {
	case "kill":
		text := w.script.Source(c)
		return slices.Contains(args, "0") || strings.Contains(text, "$$") || strings.Contains(text, "BASHPID")
	case "enable", "suspend", "logout":
		return true
	}
	if len(c.Args) == 0 {
		return false
	}
	first := c.Args[0].Parts[0]
	if _, substitutes := first.(*syntax.CmdSubst); substitutes {
		return true
	}
	text, is := first.(*syntax.Lit)
	return is && (strings.ContainsAny(text.Value, "*?") || strings.Contains(text.Value, "{") && strings.Contains(text.Value, ","))
}
