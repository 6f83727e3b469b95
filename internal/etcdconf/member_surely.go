// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxSurely is how many commands of a script are searched on all its ways.
const maxSurely = 8

// perhaps reports whether the command that is inspected may not run: the ways of its script don't all
// lead to it, or that is not known.
func (w *search) perhaps() bool {
	if w.direct {
		return false
	}
	if w.at == nil || w.maybe || w.depth > 0 || w.searched >= maxSurely {
		return true
	}
	w.searched++
	return !w.in.SurelyRuns(w.at, w.errexit)
}

// SurelyRuns reports whether all ways through a script lead to a command. With errexit, a command before it
// that fails ends the script.
func (s *Script) SurelyRuns(call *syntax.CallExpr, errexit bool) bool {
	if s.Err != nil {
		return false
	}
	spent, done := s.spent, s.work.done
	w := &walk{script: s, functions: map[string]*syntax.Stmt{}, open: map[*syntax.Stmt]bool{}, target: call, errexit: errexit || setsErrexit.MatchString(s.Text)}
	s.from = 0
	all := w.list(s.Statements, true)
	s.from, s.spent, s.work.done = len(s.Text), spent, done
	return all == ways{etcd: true}
}

// setsErrexit finds what makes a shell end at the first command that fails.
var setsErrexit = regexp.MustCompile(`(?m)\bset\s(?:.*\s)?-(?:\w*e|o\s+errexit)|\A#!.*\s-\w*e`)

// optionErrexit reports whether the options of a shell make it end at the first command that fails.
func optionErrexit(options []string) bool {
	for _, word := range options {
		if word == "errexit" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "e") {
			return true
		}
	}
	return false
}

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
