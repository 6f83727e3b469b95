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
	if name == "0" {
		return s.zero, s.zero != ""
	} else if fields == nil {
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
