// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package script reads the shell scripts with which containers start: what they run on each of their ways,
// which arguments and variables etcd gets, and what their variables may hold. It follows functions, sourced
// files and evaluated text within bounds, since any tenant may write a script, and executes nothing. What
// it can't read is not known, and never taken for nothing.
//
// Start is for a container's command, and Open for a walk over each command of a script.
package script

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
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
	errUnparsed   = errors.New("it is too large to be read here, or has a mistake")
)

// Script is a shell script of a container, parsed.
type Script struct {
	Text string
	// Statements are those before the first mistake, none of a script that is too large.
	Statements []*syntax.Stmt
	// etcd is the command that runs etcd, nil where none was found. etcdFields are its fields.
	etcd       *syntax.CallExpr
	etcdFields Fields
	// program is "etcd", or one of etcd's subcommands that run no member.
	program string
	// Err is why the script could not be parsed to its end. A shell runs the statements
	// before a mistake, so they are parsed nevertheless.
	Err       error
	constants map[string]constant
	own       definitions
	// others are the other commands that run a member instead of it, on other ways.
	others []*syntax.CallExpr
	// runs are all commands that run a member, also those that the script ends.
	runs []*syntax.CallExpr
	// from is the offset up to which assignments have been executed, if it is behind the word that
	// is expanded: that of the call of a function that the word is in.
	from   int
	around Surroundings
	// sourced is true where a file or text that isn't read may have set any variable.
	sourced bool
	// given are the arguments that the script starts with, nil where they are not known, and zero is $0, empty where it isn't
	// known. arguments are those that it has in the order of its text.
	given     []string
	zero      string
	arguments []arguments
	// spent is what the constants that were put into fields have cost.
	spent int
	work  *work
}

func newScript(text string, around Surroundings) *Script {
	return &Script{Text: text, constants: map[string]constant{}, around: around, work: &work{}}
}

// parseScript parses a script within bounds, with the scripts that it executes, and finds the
// command that runs etcd. positional are $0 and following.
func parseScript(text string, positional []string, around Surroundings) Script {
	given := givenArguments(positional)
	if around.File != nil || nestsScripts.MatchString(text) {
		p := splicer{around: around, left: MaxBytes, given: given}
		text = p.splice(text, nil)
	}
	s := *newScript(text, around)
	s.given = given
	if len(positional) > 0 && !strings.Contains(positional[0], "$(") {
		s.zero = positional[0]
	}
	if !strings.Contains(text, "etcd") && !strings.Contains(text, "-peer-urls") && !around.Names && !slices.ContainsFunc(positional, namesEtcd) {
		return s
	}
	s.Err = s.parse()
	for _, all := range []bool{false, true} {
		for _, statement := range s.Statements {
			s.find(statement, all)
		}
		if s.etcd != nil {
			break
		}
	}
	if s.etcd == nil && s.Err != nil && etcdLine.MatchString(text) {
		s.program = "etcd"
	}
	return s
}

// namesEtcd reports whether a word names etcd's program.
func namesEtcd(word string) bool { return path.Base(word) == "etcd" }

// nestsScripts finds a script that may execute another one which stands in it.
var nestsScripts = regexp.MustCompile(`\b(?:eval|su|runuser|flock|` + strings.Join(slices.Sorted(maps.Keys(shells)), "|") + `)\s`)

// parse parses the statements before the first mistake, and records assignments. Scripts that are
// too large have no statements.
func (s *Script) parse() error {
	s.from = len(s.Text)
	if strings.Contains(s.Text, "\x00") {
		return errBinary
	}
	size, nested := maxScriptBytes, maxScriptBrackets
	if s.around.File != nil {
		size, nested = MaxBytes, maxFileBrackets
	}
	if len(s.Text) > size || countAny(s.Text, brackets) > nested {
		return errTooComplex
	}
	var mistake error
	for statement, err := range syntax.NewParser().StmtsSeq(strings.NewReader(s.Text)) {
		if err != nil {
			mistake = fmt.Errorf("parse the script that starts etcd: %w", err)
			break
		}
		s.Statements = append(s.Statements, statement)
	}
	s.define()
	for _, statement := range s.Statements {
		s.assign(statement)
	}
	s.followArguments()
	return mistake
}

// etcdLine finds a line that starts etcd in a script that can't be parsed. A cluster
// whose script is beyond the parser must not lose its protection.
var etcdLine = regexp.MustCompile(`(?m)^\s*(?:exec\s+)?(?:[\w./-]*/)?etcd(?:\s|$)`)

// find searches a statement for the command that runs etcd. What runs in a command substitution is no
// member, since the shell waits for its end. With all, it also searches branches that no way leads to.
func (s *Script) find(statement *syntax.Stmt, all bool) {
	background := map[syntax.Command]bool{}
	never := map[*syntax.Stmt]bool{}
	syntax.Walk(statement, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.IfClause, *syntax.CaseClause:
			for _, list := range s.neverRun(n) {
				for _, other := range list {
					never[other] = true
				}
			}
		case *syntax.Stmt:
			background[n.Cmd] = background[n.Cmd] || n.Background
			return all || !never[n]
		case *syntax.CoprocClause:
			background[n.Stmt.Cmd] = true
		case *syntax.CallExpr:
			if program, ok := s.etcdProgram(n); ok {
				s.found(n, program, background[n])
			}
		}
		return true
	})
}

// found records a command that runs one of etcd's programs.
func (s *Script) found(call *syntax.CallExpr, program string, background bool) {
	if program == "etcd" {
		s.runs = append(s.runs, call)
		if s.stays(call, background) {
			s.others = append(s.others, call)
		}
	}
	if s.prefers(call, program) {
		s.etcd, s.etcdFields, s.program = call, s.Fields(call), program
	}
}

// Members returns how many commands of the script run a member that may be the one of the container.
func (s *Script) Members() int { return len(s.others) }

// Unread returns why the command that runs etcd is not known, nil if it is.
func (s *Script) Unread() error {
	if s.etcd != nil {
		return nil
	}
	return s.Err
}

// prefers reports whether a command shows more of the member than the one that was found before it:
// a member more than another of etcd's programs, then one that replaces the shell, then the later
// one. A script may run a member for its preparation, and end it.
func (s *Script) prefers(call *syntax.CallExpr, program string) bool {
	member, was := program == "etcd", s.program == "etcd"
	if s.etcd == nil || member != was {
		return s.etcd == nil || member
	}
	return firstOf(s.argv(call)) == "exec" || firstOf(s.etcdFields.Argv) != "exec"
}

// firstOf returns the first word of a command, empty for none.
func firstOf(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}

// etcdProgram returns the program of etcd that a command runs, false where it runs none, or only prints
// something.
func (s *Script) etcdProgram(call *syntax.CallExpr) (string, bool) {
	argv := s.argv(call)
	at := etcdAt(argv)
	if at < 0 || s.own.functions[argv[0]] != nil || informs(argv[at+1:]) {
		return "", false
	}
	program := "etcd" + subcommand(argv[at+1:])
	return program, program == "etcd" || otherPrograms[program]
}

// etcdAt returns the index of the word etcd among a command's fields, behind launchers; -1 where the
// command isn't etcd.
func etcdAt(argv []string) int {
	at := ProgramAt(argv)
	if at < 0 || at >= len(argv) || !namesEtcd(strings.ReplaceAll(argv[at], `\`, "")) { // \etcd is etcd without an alias
		return -1
	}
	return at
}

// Literal returns a word that nothing expands, without its quotes.
func Literal(word *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := Literal(&syntax.Word{Parts: p.Parts})
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

// expands reports whether a shell expands a part of a word.
func expands(word *syntax.Word) bool { return slices.ContainsFunc(word.Parts, partExpands) }

func partExpands(part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return false
	case *syntax.DblQuoted:
		return slices.ContainsFunc(p.Parts, partExpands)
	}
	return true
}

// Source returns the text of a node as the script has it.
func (s *Script) Source(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from < 0 || to > len(s.Text) || from > to {
		return ""
	}
	return s.Text[from:to]
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
