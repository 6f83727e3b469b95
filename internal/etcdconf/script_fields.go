// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
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

// fields are what a shell makes of the arguments of a command, as far as it is known. One argument is
// several fields where a shell splits a constant in it, or none where it is empty.
type fields struct {
	// argv are the fields. Of a field that isn't known to its end, the beginning is kept, with
	// unknownWord behind it.
	argv []string
	// texts are the same fields, with what isn't known as it is written.
	texts []string
	// args has for each field the index of its argument.
	args []int
}

// plain returns the fields of a command that no shell expands.
func plain(argv []string) fields { return fields{argv: argv, texts: argv} }

// from returns the fields from an index on.
func (all fields) from(i int) fields {
	all.argv, all.texts = all.argv[i:], all.texts[i:]
	if all.args != nil {
		all.args = all.args[i:]
	}
	return all
}

// fields returns the fields of a command.
func (s *script) fields(call *syntax.CallExpr) fields {
	var all fields
	for i, arg := range call.Args {
		f := s.splitArg(arg)
		all.argv, all.texts = append(all.argv, f.argv...), append(all.texts, f.texts...)
		for range f.argv {
			all.args = append(all.args, i)
		}
	}
	return all
}

// argv returns the fields of a command as far as they are known.
func (s *script) argv(call *syntax.CallExpr) []string { return s.fields(call).argv }

// splitArg splits one argument.
func (s *script) splitArg(arg *syntax.Word) *splitter {
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
func (s *script) whole(arg *syntax.Word) (string, bool) {
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
	script      *script
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
	f.add(f.script.between(node, node))
}

func (f *splitter) end() {
	if !f.open {
		return
	}
	text := f.word.String()
	f.texts = append(f.texts, text)
	if f.cut >= 0 {
		text = text[:f.cut] + unknownWord
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
			f.open = true
			f.parts(p.Parts, true)
		case *syntax.ParamExp:
			f.variable(p, quoted)
		default:
			f.unknown(part)
		}
	}
}

func (f *splitter) variable(p *syntax.ParamExp, quoted bool) {
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
func (s *script) spend(value string) bool {
	s.spent += len(value) + 1
	return len(value) <= maxSplit && s.spent <= maxSplits
}

// splits reports whether it is known where the shell splits a value: a script may change IFS.
func (s *script) splits(value string) bool {
	_, changed := s.constants["IFS"]
	return !changed || !strings.ContainsAny(value, separators)
}
