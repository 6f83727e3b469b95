// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// SurelyRuns reports whether all ways through a script lead to a command. With errexit, a command before it
// that fails ends the script.
func (s *Script) SurelyRuns(call *syntax.CallExpr, errexit bool) bool {
	if s.Err != nil {
		return false
	}
	spent, done := s.spent, s.work.done
	w := &walk{script: s, functions: map[string]*syntax.Stmt{}, open: map[*syntax.Stmt]bool{}, target: call, errexit: errexit || setsErrexit.MatchString(s.Text)}
	s.from = 0
	all := w.list(s.Statements, nothingBehind)
	s.from, s.spent, s.work.done = len(s.Text), spent, done
	return all == ways{etcd: true}
}

// setsErrexit finds what makes a shell end at the first command that fails.
var setsErrexit = regexp.MustCompile(`(?m)\bset\s(?:.*\s)?-(?:\w*e|o\s+errexit)|\A#!.*\s-\w*e`)

// unfailing are commands that don't fail on purpose. etcdctl only fails where a removal would fail, too.
var unfailing = map[string]bool{
	":": true, "echo": true, "etcdctl": true, "export": true, "local": true, "printf": true, "readonly": true, "set": true, "shift": true,
	"sleep": true, "true": true,
}

// mayFail returns the ways of a command that ends its script if it fails, or that runs a file which isn't
// read.
func (w *walk) mayFail(name string) ways {
	unread := w.target != nil && (name == "." || name == "source")
	return ways{on: true, exit: unread || w.errexit && !unfailing[name]}
}

// assigns returns the ways of assignments, which fail if a substitution does.
func (w *walk) assigns(c *syntax.CallExpr) ways {
	out := ways{on: true}
	syntax.Walk(c, func(node syntax.Node) bool {
		if s, is := node.(*syntax.CmdSubst); is && !strings.Contains(w.script.Source(s), "etcdctl") {
			out.exit = w.errexit
		}
		return true
	})
	return out
}
