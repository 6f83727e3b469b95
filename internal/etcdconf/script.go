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

var (
	errTooComplex = errors.New("the script is too large to be read here")
	errBinary     = errors.New("the script has NUL bytes: no shell reads it as text")
)

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
	err       error
	constants map[string]constant
	// from is the offset up to which assignments have been executed, if it is behind the word that
	// is expanded: that of the call of a function that the word is in.
	from   int
	around surroundings
}

// parseScript parses a script within bounds, with the scripts that it executes, and finds the
// command that runs etcd.
func parseScript(text string, around surroundings) script {
	if around.file != nil || nestsScripts.MatchString(text) {
		p := splicer{around: around, left: maxMountedBytes}
		text = p.splice(text, nil)
	}
	s := script{text: text, constants: map[string]constant{}, around: around}
	if !strings.Contains(text, "etcd") && !around.names {
		return s
	}
	s.err = s.parse()
	for _, statement := range s.statements {
		s.find(statement)
	}
	if s.etcd == nil && s.err != nil && etcdLine.MatchString(text) {
		s.program = "etcd"
	}
	return s
}

// nestsScripts finds a script that may execute another one which stands in it.
var nestsScripts = regexp.MustCompile(`\b(?:eval|sh|bash|ash|dash)\s`)

// parse parses the statements before the first mistake, and records assignments. Scripts that are
// too large have no statements.
func (s *script) parse() error {
	s.from = len(s.text)
	if strings.Contains(s.text, "\x00") {
		return errBinary
	}
	size, nested := maxScriptBytes, maxScriptBrackets
	if s.around.file != nil {
		size, nested = maxMountedBytes, maxMountedBrackets
	}
	if len(s.text) > size || countAny(s.text, brackets) > nested {
		return errTooComplex
	}
	var mistake error
	for statement, err := range syntax.NewParser().StmtsSeq(strings.NewReader(s.text)) {
		if err != nil {
			mistake = fmt.Errorf("parse the script that starts etcd: %w", err)
			break
		}
		s.statements = append(s.statements, statement)
	}
	for _, statement := range s.statements {
		s.assign(statement)
	}
	return mistake
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
			if program, ok := s.etcdProgram(n); ok && s.program != "etcd" {
				s.etcd, s.program = n, program
			}
		}
		return s.program != "etcd"
	})
}

// etcdProgram returns the program of etcd that a command runs, false where it runs none.
func (s *script) etcdProgram(call *syntax.CallExpr) (string, bool) {
	at := s.etcdAt(call)
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

// etcdAt returns the index of the word etcd among a command's, behind launchers; -1 where the
// command isn't etcd.
func (s *script) etcdAt(call *syntax.CallExpr) int {
	argv := s.argv(call)
	at := programAt(argv)
	if at < 0 || at >= len(argv) || path.Base(argv[at]) != "etcd" {
		return -1
	}
	return at
}

// argv returns the arguments of a command, as far as they are known: literal ones, and variables
// to which the script assigns one literal value. Of a word that begins with literal text, such
// as an assignment, that beginning is kept.
func (s *script) argv(call *syntax.CallExpr) []string {
	argv := make([]string, len(call.Args))
	for i, arg := range call.Args {
		text, ok := literal(arg)
		if !ok {
			text, ok = s.constant(arg)
		}
		if first, is := arg.Parts[0].(*syntax.Lit); !ok && is {
			text = first.Value + unknownWord
		} else if !ok {
			text = unknownWord
		}
		argv[i] = text
	}
	return argv
}

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

// between returns the script's text from the beginning of one node to the end of another.
func (s *script) between(first, last syntax.Node) string {
	from, to := int(first.Pos().Offset()), int(last.End().Offset())
	if from < 0 || to > len(s.text) || from > to {
		return ""
	}
	return s.text[from:to]
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
