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

// maxArguments is how many arguments a script may have that are followed.
const maxArguments = 512

// arguments are $1 and following of a script behind an offset, nil where they are not known. UnknownWord
// stands for the end of one that isn't known.
type arguments struct {
	from   int
	fields []string
}

// setsArguments finds what may give a script other arguments.
var setsArguments = regexp.MustCompile(`\bset\s`)

// changesArguments finds a trap that may do so.
var changesArguments = regexp.MustCompile(`\\|set|shift|eval|source|(?:^|[\s;])\.\s`)

// setsNounset finds what has a script end at an argument that it doesn't have.
var setsNounset = regexp.MustCompile(`\bset\s[^\n]*u`)

// givenArguments returns the arguments that a container gives to its script. Kubernetes or the pod expands what
// remains of references.
func givenArguments(positional []string) []string {
	fields := make([]string, 0, len(positional))
	for _, word := range positional[min(1, len(positional)):] {
		if known, _, refers := strings.Cut(word, "$("); refers {
			word = known + UnknownWord
		}
		fields = append(fields, word)
	}
	return fields
}

// plainParameter returns the name of an expansion without an operator, empty for any other one.
func plainParameter(p *syntax.ParamExp) string {
	if p.Param == nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl || p.Index != nil {
		return ""
	}
	return p.Param.Value
}

// argumentsAt returns the arguments that the script has at an offset.
func (s *Script) argumentsAt(offset int) []string {
	for _, a := range slices.Backward(s.arguments) {
		if a.from <= offset {
			return a.fields
		}
	}
	return nil
}

// allArguments returns what "$@" stands for, false for any other expansion and where it isn't known.
func (s *Script) allArguments(p *syntax.ParamExp, quoted bool) ([]string, bool) {
	if name := plainParameter(p); name != "@" && (name != "*" || quoted) {
		return nil, false
	}
	fields := s.argumentsAt(int(p.Pos().Offset()))
	return fields, fields != nil
}

// numbered returns $1 and following, and $#. What is before an unknown field of an argument list counts,
// since a shell may split that.
func (s *Script) numbered(name string, offset int) (string, bool) {
	fields := s.argumentsAt(offset)
	if fields == nil {
		return "", false
	}
	at, err := strconv.Atoi(name)
	if name == "#" {
		at = len(fields)
	} else if err == nil && at > len(fields) && !slices.ContainsFunc(fields, unknownField) {
		return "", !setsNounset.MatchString(s.Text)
	} else if err != nil || at < 1 || at > len(fields) {
		return "", false
	}
	if slices.ContainsFunc(fields[:at], unknownField) {
		return "", false
	}
	if name == "#" {
		return strconv.Itoa(at), true
	}
	return fields[at-1], true
}

func unknownField(field string) bool { return strings.Contains(field, UnknownWord) }

// followArguments records which arguments the script has where: those that it was given, and what set and shift
// make of them.
func (s *Script) followArguments() {
	if s.own.alias || s.given == nil && !setsArguments.MatchString(s.Text) {
		return
	}
	from := s.from
	s.from = 0 // each word stands behind the assignments before it
	s.argumentsOf(s.Statements, s.begin(0, s.given))
	s.from = from
}

// begin records the arguments behind an offset.
func (s *Script) begin(from int, fields []string) []string {
	if last := len(s.arguments) - 1; last >= 0 && s.arguments[last].from == from {
		s.arguments = s.arguments[:last]
	}
	s.arguments = append(s.arguments, arguments{from, fields})
	return fields
}

func (s *Script) beginAt(at syntax.Pos, fields []string) []string {
	return s.begin(int(at.Offset()), fields)
}

// argumentsOf follows statements, and returns the arguments behind them.
func (s *Script) argumentsOf(list []*syntax.Stmt, fields []string) []string {
	for _, statement := range list {
		fields = s.argumentsBehind(statement, fields)
	}
	return fields
}

// argumentsBehind returns the arguments behind a statement that begins with some.
func (s *Script) argumentsBehind(statement *syntax.Stmt, fields []string) []string {
	if statement.Cmd == nil {
		return fields
	}
	if behind := s.argumentsBehindCommand(statement.Cmd, fields); !statement.Background {
		return behind
	}
	return s.beginAt(statement.Cmd.End(), fields)
}

//nolint:gocyclo // one case a kind of command
func (s *Script) argumentsBehindCommand(cmd syntax.Command, fields []string) []string {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return s.argumentsBehindCall(c, fields)
	case *syntax.DeclClause:
		return fields
	case *syntax.Block:
		return s.argumentsOf(c.Stmts, fields)
	case *syntax.Subshell:
		s.argumentsOf(c.Stmts, fields)
		return s.beginAt(c.End(), fields)
	case *syntax.FuncDecl:
		s.beginAt(c.Body.Pos(), nil)
		return s.beginAt(c.End(), fields)
	case *syntax.BinaryCmd:
		return s.argumentsBehindBoth(c, fields)
	case *syntax.IfClause:
		return s.beginAt(c.End(), s.argumentsBehindIf(c, fields))
	case *syntax.CaseClause:
		return s.argumentsBehindCase(c, fields)
	}
	if fields != nil && s.mayChangeArguments(cmd) {
		return s.beginAt(cmd.Pos(), nil)
	}
	return fields
}

func (s *Script) argumentsBehindBoth(c *syntax.BinaryCmd, fields []string) []string {
	first := s.argumentsBehind(c.X, fields)
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt { // a pipe: some shells run its last command themselves
		first = s.beginAt(c.Y.Pos(), fields)
	}
	return s.beginAt(c.End(), either(first, s.argumentsBehind(c.Y, first)))
}

func (s *Script) argumentsBehindIf(c *syntax.IfClause, fields []string) []string {
	if c == nil {
		return fields
	}
	behind := s.argumentsOf(c.Cond, fields) // none of an else
	then := s.argumentsOf(c.Then, behind)
	if c.Cond == nil {
		return then
	}
	succeeds, known := s.listOutcome(c.Cond)
	if c.Else != nil {
		s.beginAt(c.Else.Pos(), behind)
	}
	otherwise := s.argumentsBehindIf(c.Else, behind)
	switch {
	case known && succeeds:
		return then
	case known || s.ends(c.Then):
		return otherwise
	case c.Else != nil && s.ends(c.Else.Then):
		return then
	}
	return either(then, otherwise)
}

func (s *Script) argumentsBehindCase(c *syntax.CaseClause, fields []string) []string {
	behind, decided := fields, false
	for _, item := range c.Items {
		s.beginAt(item.Pos(), fields)
		then := s.argumentsOf(item.Stmts, fields)
		match, known := s.matches(c.Word, item.Patterns)
		switch {
		case fallsThrough(item):
			behind, decided = nil, true
		case decided || known && !match || s.ends(item.Stmts) && !match:
		case match:
			behind, decided = either(behind, then), true
			if known && s.onlyMatch(c, item) {
				behind = then
			}
		default:
			behind = either(behind, then)
		}
	}
	return s.beginAt(c.End(), behind)
}

// onlyMatch reports whether an item of a case is the first that its word can match.
func (s *Script) onlyMatch(c *syntax.CaseClause, item *syntax.CaseItem) bool {
	for _, before := range c.Items {
		if before == item {
			return true
		}
		if match, known := s.matches(c.Word, before.Patterns); match || !known {
			return false
		}
	}
	return false
}

// ends reports whether a list ends its script: with exit, or another program.
func (s *Script) ends(list []*syntax.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	call, is := last.Cmd.(*syntax.CallExpr)
	if !is || last.Background {
		return false
	}
	name := commandOf(call.Args)
	return s.own.functions[name] == nil && (name == "exit" || name == "exec" && len(s.argv(call)) > 1)
}

// either returns the arguments behind two ways, nil where they differ.
func either(one, other []string) []string {
	if one == nil || other == nil || !slices.Equal(one, other) {
		return nil
	}
	return one
}

// argumentsBehindCall returns the arguments behind a command. Those of a function of the script are its own.
func (s *Script) argumentsBehindCall(c *syntax.CallExpr, fields []string) []string {
	args := withoutCommand(c.Args)
	if len(args) == 0 {
		return fields
	}
	switch commandOf(args) {
	case "set":
		o := readSet(textsOf(args[1:]))
		switch {
		case o.unclear:
			return s.beginAt(c.End(), nil)
		case o.replaces:
			return s.beginAt(c.End(), s.operands(args[1+o.operand:]))
		}
		return fields
	case "shift":
		return s.beginAt(c.End(), shifted(args[1:], fields))
	}
	if fields != nil && s.mayChangeArguments(c) {
		return s.beginAt(c.End(), nil)
	}
	return fields
}

// operands returns the fields of the operands of set.
func (s *Script) operands(args []*syntax.Word) []string {
	fields := []string{}
	for _, arg := range args {
		if slices.ContainsFunc(arg.Parts, expandsToMore) {
			fields = append(fields, UnknownWord)
			continue
		}
		fields = append(fields, s.splitArg(arg).argv...)
		if len(fields) > maxArguments {
			return nil
		}
	}
	return fields
}

// expandsToMore reports whether a shell may make several fields of a literal part of a word.
func expandsToMore(part syntax.WordPart) bool {
	text, is := part.(*syntax.Lit)
	return is && strings.ContainsAny(text.Value, patternMarks+"{~")
}

// patternMarks are the characters of a pattern for file names.
const patternMarks = `*?[\`

// shifted returns what the command shift leaves of arguments.
func shifted(args []*syntax.Word, fields []string) []string {
	n, err := 1, error(nil)
	if len(args) > 0 {
		text, _ := Literal(args[0])
		n, err = strconv.Atoi(text)
	}
	if err != nil || n < 0 || n > len(fields) || slices.ContainsFunc(fields[:n], unknownField) {
		return nil
	}
	return fields[n:]
}

// mayChangeArguments reports whether a node may give the script other arguments.
func (s *Script) mayChangeArguments(node syntax.Node) (may bool) {
	syntax.Walk(node, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.FuncDecl, *syntax.CoprocClause:
			may = true
		case *syntax.CallExpr:
			args := withoutCommand(n.Args)
			if len(args) == 0 {
				break
			}
			name := commandOf(args)
			may = may || name == "" || name == "set" && readSet(textsOf(args[1:])).touches() || name == "shift" || unread[name] ||
				name == "enable" || strings.ContainsAny(name, "*?{") || name == "trap" && changesArguments.MatchString(s.Source(n))
		}
		return !may
	})
	return may
}

// touches reports whether a set may replace $1 and following.
func (o setCall) touches() bool { return o.replaces || o.unclear }
