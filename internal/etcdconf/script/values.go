// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the texts that variables may hold.
const (
	mostValues = 16      // of one variable, and of one command
	mostHeld   = 4 << 10 // the length of one
	mostLearnt = 1 << 20 // of all together, with what they are made of
)

// piece is a part of a text: as it is known, or as it is written where only a shell in the pod can expand it. It
// splits into fields if it comes from a variable outside of quotes, and breaks if another field begins behind it.
type piece struct {
	text                  string
	known, splits, breaks bool
}

// Value is a text that a variable may hold, or a field of a command.
type Value []piece

// values are the texts that the variables of a script may hold on any of its ways: those of all of its
// assignments, and of the container's environment.
type values struct {
	env      func(name string) (string, bool)
	variable map[string][]Value
	alias    map[string][]Value
	// parameters are the arguments that each function is called with. Those of the script have no name.
	parameters map[string][][]Value
	left       int
}

// uncounted stands for the texts that are more than are counted.
var uncounted = Value{{text: "$VALUES", splits: true}}

func newValues(env func(string) (string, bool)) *values {
	return &values{env: env, variable: map[string][]Value{}, alias: map[string][]Value{}, parameters: map[string][][]Value{}, left: mostLearnt}
}

func textOf(text string) Value { return Value{{text: text, known: true}} }

// add adds a text to those that a name has.
func (v *values) add(to map[string][]Value, name string, texts ...Value) {
	for _, text := range texts {
		has := slices.ContainsFunc(to[name], func(other Value) bool { return slices.Equal(other, text) })
		if v.left -= text.length(); has {
			continue
		}
		if len(to[name]) >= mostValues || text.length() > mostHeld || v.left < 0 {
			text = uncounted
		}
		if len(to[name]) <= mostValues {
			to[name] = append(to[name], text)
		}
	}
}

func (v Value) length() int {
	n := 1
	for _, p := range v {
		n += len(p.text)
	}
	return n
}

// Written returns a text with what isn't known as it is written.
func (v Value) Written() string {
	var out strings.Builder
	for _, p := range v {
		out.WriteString(p.text)
	}
	return out.String()
}

// beginning returns a text up to what isn't known, with UnknownWord behind it.
func (v Value) beginning() string {
	var out strings.Builder
	for _, p := range v {
		if !p.known {
			return out.String() + UnknownWord
		}
		out.WriteString(p.text)
	}
	return out.String()
}

// Opaque reports whether nothing of a text is known.
func (v Value) Opaque() bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(p piece) bool {
		return p.known && p.text != "" || !p.known && isParameter(p.text)
	})
}

// isParameter reports whether a text is a parameter such as $1: what a script or a function is called with is
// inspected there.
func isParameter(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "$"), "{")
	return text != "" && strings.Contains("0123456789@*#?!-", text[:1])
}

// Splits reports whether all of a text comes from variables outside of quotes.
func (v Value) Splits() bool {
	return !slices.ContainsFunc(v, func(p piece) bool { return !p.splits })
}

// product returns each of some texts with each of others behind it.
func (v *values) product(first, then []Value) []Value {
	switch {
	case v.left < 0:
		return []Value{uncounted}
	case len(first)*len(then) > mostValues:
		then = []Value{uncounted}
	}
	var all []Value
	for _, a := range first {
		for _, b := range then {
			all = append(all, slices.Concat(a, b))
			v.left -= len(a) + len(b) + 1
		}
	}
	return all
}

// protected and unprotected return the texts of a variable as they are in quotes, and without.
func protected(texts []Value) []Value   { return withSplits(texts, false) }
func unprotected(texts []Value) []Value { return withSplits(texts, true) }

func withSplits(texts []Value, splits bool) []Value {
	out := make([]Value, len(texts))
	for i, text := range texts {
		out[i] = slices.Clone(text)
		for j := range out[i] {
			out[i][j].splits = splits
		}
	}
	return out
}

// texts returns the texts that parts of a word may be.
func (in Scope) texts(parts []syntax.WordPart, within bool) []Value {
	all := []Value{{}}
	for _, part := range parts {
		all = in.values.product(all, in.textsOf(part, within))
	}
	return all
}

// textsOf returns the texts that a part of a word may be. within is true in double quotes.
func (in Scope) textsOf(part syntax.WordPart, within bool) []Value {
	switch p := part.(type) {
	case *syntax.Lit:
		if within {
			return []Value{textOf(unescaped.Replace(p.Value))}
		}
		return []Value{textOf(p.Value)}
	case *syntax.SglQuoted:
		return []Value{textOf(p.Value)}
	case *syntax.DblQuoted:
		return protected(in.texts(p.Parts, true))
	case *syntax.ParamExp:
		return in.held(p)
	case *syntax.CmdSubst:
		if printed := in.printed(p); len(printed) > 0 {
			return printed
		}
	}
	return []Value{in.asWritten(part)}
}

func (in Scope) asWritten(node syntax.Node) Value {
	return Value{{text: in.Script.Source(node), splits: true}}
}

// printed returns what a command substitution of echo or printf, or of a text of the script, may print, none for another
// one.
func (in Scope) printed(s *syntax.CmdSubst) []Value {
	if len(s.Stmts) != 1 {
		return nil
	}
	call, is := s.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(call.Args) == 0 {
		return nil
	}
	var all []Value
	switch commandOf(call.Args) {
	case "echo", "printf":
		all = in.joined(call.Args[1:])
	case "cat":
		for _, text := range in.Script.Inputs(s.Stmts[0]) {
			all = append(all, textOf(text))
		}
	}
	return unprotected(all)
}

// joined returns what arguments may be with spaces between them.
func (in Scope) joined(args []*syntax.Word) []Value {
	all := []Value{{}}
	for i, arg := range args {
		if i > 0 {
			all = in.values.product(all, []Value{textOf(" ")})
		}
		all = in.values.product(all, in.texts(arg.Parts, false))
	}
	return protected(all)
}

// held returns the texts that a parameter expansion may be.
func (in Scope) held(p *syntax.ParamExp) []Value {
	if p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil {
		return []Value{in.asWritten(p)}
	}
	all := in.valuesOf(p.Param.Value)
	if p.Exp != nil {
		switch p.Exp.Op { //nolint:exhaustive // the others change the value
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if all == nil {
				all = []Value{in.asWritten(p)}
			}
			all = slices.Concat(all, in.wordTexts(p.Exp.Word))
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			all = append(in.wordTexts(p.Exp.Word), Value{})
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default:
			all = nil
		}
	}
	if all == nil {
		all = []Value{in.asWritten(p)}
	}
	return unprotected(all)
}

func (in Scope) wordTexts(word *syntax.Word) []Value {
	if word == nil {
		return []Value{{}}
	}
	return in.texts(word.Parts, false)
}

// valuesOf returns the texts that a variable or a parameter may hold, nil if it isn't known.
func (in Scope) valuesOf(name string) []Value {
	if !isName(name) {
		return in.parameter(name)
	}
	all := slices.Clone(in.values.variable[name])
	if in.values.env == nil {
		return all
	}
	switch text, ok := in.values.env(name); {
	case ok && len(text) > mostHeld:
		return append(all, uncounted)
	case ok:
		return append(all, textOf(text))
	}
	return all
}

// parameter returns the texts that a parameter may hold.
func (in Scope) parameter(name string) (all []Value) {
	calls := in.values.parameters[in.Within]
	at, err := strconv.Atoi(name)
	for _, args := range calls {
		switch {
		case name == "@" || name == "*":
			var text Value
			for i, arg := range args {
				if i > 0 {
					text = append(text, piece{text: " ", known: true, breaks: true})
				}
				text = append(text, arg...)
			}
			all = append(all, text)
		case err == nil && at > 0 && at <= len(args):
			all = append(all, args[at-1])
		}
	}
	return all
}

// split returns the fields that a word may be, by its text.
func (v Value) split() (all []Value) {
	var field Value
	open := false
	end := func() {
		if open {
			all = append(all, field)
		}
		field, open = nil, false
	}
	for _, p := range v {
		switch {
		case p.breaks:
			end()
		case !p.known || !p.splits:
			field, open = append(field, p), true
		default:
			rest := p.text
			for {
				at := strings.IndexAny(rest, separators)
				if part := rest[:max(at, 0)]; at < 0 && rest != "" || part != "" {
					if at < 0 {
						part = rest
					}
					field, open = append(field, piece{text: part, known: true}), true
				}
				if at < 0 {
					break
				}
				end()
				rest = rest[at+1:]
			}
		}
	}
	end()
	return all
}
