// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a script that is parsed. A user who may create a pod chooses its script, and the webhook
// parses it: the parser recurses, and takes about 4 KiB of stack for each nested bracket.
const (
	maxScriptBytes    = 32 << 10
	maxScriptBrackets = 1000
	brackets          = "([{?!`"
)

var errTooComplex = errors.New("the script is too large to be read here")

// script is a shell script that starts a member, parsed.
type script struct {
	text       string
	statements []*syntax.Stmt
	// etcd is the command that runs etcd, nil where none was found.
	etcd *syntax.CallExpr
	// program is "etcd", or one of etcd's subcommands that run no member.
	program string
	// err is why the script could not be parsed to its end. A shell runs the statements
	// before a mistake, so they are parsed nevertheless.
	err error
}

// parseScript parses a script within bounds and finds the command that runs etcd.
func parseScript(text string) script {
	s := script{text: text}
	if !strings.Contains(text, "etcd") {
		return s
	}
	if len(text) > maxScriptBytes || countAny(text, brackets) > maxScriptBrackets {
		s.err = errTooComplex
	} else {
		for statement, err := range syntax.NewParser().StmtsSeq(strings.NewReader(text)) {
			if err != nil {
				s.err = fmt.Errorf("parse the script that starts etcd: %w", err)
				break
			}
			s.statements = append(s.statements, statement)
		}
	}
	for _, statement := range s.statements {
		s.find(statement)
	}
	if s.etcd == nil && s.err != nil && etcdLine.MatchString(text) {
		s.program = "etcd"
	}
	return s
}

// etcdLine finds a line that starts etcd in a script that can't be parsed. A cluster
// whose script is beyond the parser must not lose its protection.
var etcdLine = regexp.MustCompile(`(?m)^\s*(?:exec\s+)?(?:[\w./-]*/)?etcd(?:\s|$)`)

// find searches a statement for the command that runs etcd: the first that runs a
// member, or else the last that runs another of etcd's programs. What runs in a command
// substitution is no member, since the shell waits for its end.
func (s *script) find(statement *syntax.Stmt) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.CallExpr:
			if program, ok := etcdProgram(n); ok && s.program != "etcd" {
				s.etcd, s.program = n, program
			}
		}
		return s.program != "etcd"
	})
}

// etcdProgram returns the program of etcd that a command runs, false where it runs none.
func etcdProgram(call *syntax.CallExpr) (string, bool) {
	at := etcdAt(call)
	if at < 0 {
		return "", false
	}
	var next []string
	if at+1 < len(call.Args) {
		if word, ok := literal(call.Args[at+1]); ok {
			next = []string{word}
		}
	}
	return "etcd" + subcommand(next), true
}

// etcdAt returns the index of the word etcd among a command's, behind programs that run
// another one; -1 where the command isn't etcd.
func etcdAt(call *syntax.CallExpr) int {
	launched := false
	for i, arg := range call.Args {
		word, ok := literal(arg)
		switch {
		case !ok && launched && i > 0: // a value that env assigns
			continue
		case !ok:
			return -1
		case path.Base(word) == "etcd":
			return i
		case launchers[path.Base(word)] || scriptLaunchers[word]:
			launched = true
		case launched && (strings.HasPrefix(word, "-") || strings.Contains(word, "=")):
		default:
			return -1
		}
	}
	return -1
}

var scriptLaunchers = map[string]bool{"nohup": true, "command": true, "setsid": true}

// literal returns a word that nothing expands, without its quotes.
func literal(word *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := literal(&syntax.Word{Parts: p.Parts})
			if !ok {
				return "", false
			}
			text.WriteString(inner)
		default:
			return "", false
		}
	}
	return text.String(), true
}

func countAny(text, chars string) int {
	n := 0
	for i := range len(text) {
		if strings.IndexByte(chars, text[i]) >= 0 {
			n++
		}
	}
	return n
}
