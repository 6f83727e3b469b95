// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fatal are commands of a shell that end it if they fail (POSIX, Consequences of Shell Errors), at least in dash, and that
// can fail whatever their arguments are.
var fatal = map[string]bool{".": true, "source": true, "shift": true}

// setsReadonly finds what makes an assignment fail.
var setsReadonly = regexp.MustCompile(`\breadonly\b|\b(?:declare|typeset|local)\s(?:.*\s)?-\w*r`)

// knownOptions are the names of the options that every shell knows.
var knownOptions = map[string]bool{
	"allexport": true, "errexit": true, "monitor": true, "noclobber": true, "noexec": true, "noglob": true, "nounset": true,
	"verbose": true, "xtrace": true,
}

// mayAbort reports whether an error in a statement itself, not in those within it, may end the process that executes
// it. That only matters in a process that the script goes on behind or beside: the script may then come to another
// program although etcd never ran.
func (w *walk) mayAbort(s *syntax.Stmt) bool {
	if !w.apart || s.Background || w.target != nil {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.failsFatally(s, c) || w.mayNotExpand(c)
	case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.TestClause:
		return w.aborting || w.readonly || w.mayNotExpand(c)
	case *syntax.ForClause:
		return w.mayNotExpand(c.Loop)
	case *syntax.CaseClause:
		return w.mayNotExpand(c.Word)
	}
	return false
}

// failsFatally reports whether a command of a statement may fail, and ends its process then.
func (w *walk) failsFatally(s *syntax.Stmt, c *syntax.CallExpr) bool {
	if _, etcd := w.script.etcdProgram(c); etcd {
		return false
	}
	args := withoutCommand(c.Args)
	name := commandOf(args)
	switch {
	case w.aborting && len(args) > 0 && !unfailing[name]:
		return true
	case w.readonly && (len(c.Assigns) > 0 || name == "export" || name == "unset"):
		return true
	case len(args) < len(c.Args): // after the word command, an error ends no shell
		return false
	case name == "set" && !setsKnown(textsOf(args[1:])):
		return true
	}
	return fatal[name] || persist[name] && slices.ContainsFunc(s.Redirs, opensFile)
}

// setsKnown reports whether set knows its options.
func setsKnown(args []string) bool {
	for i, word := range args {
		if len(word) < 2 || word == "--" || word[0] != '-' && word[0] != '+' {
			return true
		}
		if strings.Trim(word[1:], "abCefmnuvxo") != "" || strings.Contains(word, "o") && (i+1 == len(args) || !knownOptions[args[i+1]]) {
			return false
		}
		if strings.Contains(word, "o") {
			return setsKnown(args[i+2:])
		}
	}
	return true
}

// opensFile reports whether a redirection opens a file that may not be there, or not be writable.
func opensFile(r *syntax.Redirect) bool {
	if r.Word == nil || r.Op == syntax.DplIn || r.Op == syntax.DplOut || r.Hdoc != nil {
		return false
	}
	file, known := Literal(r.Word)
	return !known || !strings.HasPrefix(file, "/dev/")
}

// mayNotExpand reports whether an expansion in a node may be an error: ${X:?}, arithmetic, or a variable that is not
// set where that is one.
func (w *walk) mayNotExpand(node syntax.Node) (may bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ArithmExp: // by a division, or by a variable whose value is no number
			may = may || !isCount(n)
		case *syntax.ParamExp:
			may = may || n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull) || w.unset && w.mayBeUnset(n)
		}
		return !may && w.script.work.spend(1)
	})
	return may
}

// isCount reports whether an arithmetic expression is only a number or the number of arguments.
func isCount(a *syntax.ArithmExp) bool {
	word, is := a.X.(*syntax.Word)
	if !is {
		return false
	}
	text, known := Literal(word)
	_, err := strconv.Atoi(text)
	return known && err == nil
}

// mayBeUnset reports whether a variable without a default is not known to be set: the environment has it, or the script
// assigns it.
func (w *walk) mayBeUnset(p *syntax.ParamExp) bool {
	if p.Exp != nil || p.Param == nil || !isName(p.Param.Value) {
		return false
	}
	name := p.Param.Value
	if w.script.around.Variable != nil {
		if _, set := w.script.around.Variable(name); set {
			return false
		}
	}
	return len(w.script.own.assigns[name]) == 0
}
