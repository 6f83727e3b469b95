// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the constants that are put into fields: a script can use a long one thousands of times.
const (
	maxSplit  = 4 << 10 // the length of one
	maxSplits = 1 << 20 // what all uses of a script cost together
)

// separators are where a shell splits what it expands outside of quotes.
const separators = " \t\n"

// Fields are what a shell makes of the arguments of a command, as far as it is known. One argument is
// several fields where a shell splits a constant in it, or none where it is empty.
type Fields struct {
	// Argv are the fields. Of a field that isn't known to its end, the beginning is kept, with
	// UnknownWord behind it.
	Argv []string
	// Texts are the same fields, with what isn't known as it is written.
	Texts []string
	// args has for each field the index of its argument.
	args []int
	// split is true where one of the texts is a command itself, which stands in its place.
	split bool
}

// From returns the fields from an index on.
func (all Fields) From(i int) Fields {
	all.Argv, all.Texts = all.Argv[i:], all.Texts[i:]
	if all.args != nil {
		all.args = all.args[i:]
	}
	return all
}

// Program returns the first field, empty for none.
func (all Fields) Program() string { return firstOf(all.Argv) }

// RunsEtcd reports whether the command is etcd, behind launchers.
func (all Fields) RunsEtcd() bool { return etcdAt(all.Argv) >= 0 }

// Fields returns the fields of a command. Those of one that nothing expands are the same wherever the walk stands, and found once.
func (s *Script) Fields(call *syntax.CallExpr) Fields {
	if all, done := s.own.plain[call]; done {
		return all
	}
	s.work.expanded += int(call.End().Offset() - call.Pos().Offset())
	all := s.fieldsOf(call)
	if s.own.plain != nil && !slices.ContainsFunc(call.Args, expands) {
		all.Argv, all.Texts, all.args = slices.Clip(all.Argv), slices.Clip(all.Texts), slices.Clip(all.args)
		s.own.plain[call] = all
	}
	return all
}

func (s *Script) fieldsOf(call *syntax.CallExpr) (all Fields) {
	for i, arg := range call.Args {
		f := s.splitArg(arg)
		all.Argv, all.Texts = append(all.Argv, f.argv...), append(all.Texts, f.texts...)
		for range f.argv {
			all.args = append(all.args, i)
		}
	}
	return all.unfolded()
}

// argv returns the fields of a command as far as they are known.
func (s *Script) argv(call *syntax.CallExpr) []string { return s.Fields(call).Argv }

// Texts returns the fields of one argument, with what isn't known as it is written.
func (s *Script) Texts(arg *syntax.Word) []string { return s.splitArg(arg).texts }

// splitArg splits one argument.
func (s *Script) splitArg(arg *syntax.Word) *splitter {
	f := &splitter{script: s, cut: -1}
	if value, ok := s.whole(arg); ok {
		f.argv, f.texts = []string{value}, []string{value}
		return f
	}
	f.parts(arg.Parts, false)
	f.end()
	return f
}

// whole returns the value of a quoted argument that is one variable. It isn't copied.
func (s *Script) whole(arg *syntax.Word) (string, bool) {
	quoted, is := arg.Parts[0].(*syntax.DblQuoted)
	if !is || len(arg.Parts) != 1 || len(quoted.Parts) != 1 {
		return "", false
	}
	p, is := quoted.Parts[0].(*syntax.ParamExp)
	if !is {
		return "", false
	}
	return s.constant(p)
}

// splitter splits one argument into fields.
type splitter struct {
	script      *Script
	argv, texts []string
	// word is the field that is being read, and open is true once it has begun. cut is where its
	// known beginning ends, -1 for not at all.
	word strings.Builder
	open bool
	cut  int
}

func (f *splitter) add(text string) {
	f.word.WriteString(text)
	f.open = true
}

// unknown adds what isn't known, as it is written.
func (f *splitter) unknown(node syntax.Node) {
	if f.cut < 0 {
		f.cut = f.word.Len()
	}
	f.add(f.script.Source(node))
}

func (f *splitter) end() {
	if !f.open {
		return
	}
	text := f.word.String()
	f.texts = append(f.texts, text)
	if f.cut >= 0 {
		text = text[:f.cut] + UnknownWord
	}
	f.argv = append(f.argv, text)
	f.word.Reset()
	f.open, f.cut = false, -1
}

// unescaped removes the backslashes that a shell removes within double quotes.
var unescaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`")

func (f *splitter) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if quoted {
				f.add(unescaped.Replace(p.Value))
			} else {
				f.add(p.Value)
			}
		case *syntax.SglQuoted:
			f.add(p.Value)
		case *syntax.DblQuoted:
			f.open = f.open || !f.none(p)
			f.parts(p.Parts, true)
		case *syntax.ParamExp:
			f.variable(p, quoted)
		default:
			f.unknown(part)
		}
	}
}

func (f *splitter) variable(p *syntax.ParamExp, quoted bool) {
	if fields, is := f.script.allArguments(p, quoted); is {
		f.arguments(p, fields, quoted)
		return
	}
	value, ok := f.script.constant(p)
	switch {
	case !ok || !f.script.spend(value):
		f.unknown(p)
	case quoted:
		f.add(value)
	case f.script.splits(value):
		f.split(value)
	default:
		f.unknown(p)
	}
}

// none reports whether a quoted part is "$@" without arguments, which is no field.
func (f *splitter) none(quoted *syntax.DblQuoted) bool {
	if len(quoted.Parts) != 1 {
		return false
	}
	p, is := quoted.Parts[0].(*syntax.ParamExp)
	if !is {
		return false
	}
	fields, all := f.script.allArguments(p, true)
	return all && len(fields) == 0
}

// arguments adds what "$@" stands for.
func (f *splitter) arguments(p *syntax.ParamExp, fields []string, quoted bool) {
	for i, field := range fields {
		if i > 0 {
			f.end()
			f.open = quoted
		}
		before, _, unknown := strings.Cut(field, UnknownWord)
		switch {
		case !f.script.spend(field):
			f.unknown(p)
		case unknown:
			f.word.WriteString(before)
			f.unknown(p)
		case quoted:
			f.add(field)
		case f.script.splits(field) && !strings.ContainsAny(field, patternMarks):
			f.split(field)
		default:
			f.unknown(p)
		}
	}
}

func (f *splitter) split(value string) {
	for i := range len(value) {
		if strings.IndexByte(separators, value[i]) >= 0 {
			f.end()
			continue
		}
		f.word.WriteByte(value[i])
		f.open = true
	}
}

// spend reports whether a constant may be put into another word.
func (s *Script) spend(value string) bool {
	s.spent += len(value) + 1
	return len(value) <= maxSplit && s.spent <= maxSplits
}

// splits reports whether it is known where the shell splits a value: a script may change IFS.
func (s *Script) splits(value string) bool {
	_, changed := s.constants["IFS"]
	return !changed || !strings.ContainsAny(value, separators)
}
