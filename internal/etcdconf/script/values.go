// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the texts that variables may hold.
const (
	mostValues = 16      // of one variable, and of one command
	mostHeld   = 4 << 10 // the length of one
	mostLearnt = 1 << 20 // of all together, with what they are made of
)

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
	case "which", "command", "type": // the path of a program
		all = in.joined(call.Args[len(call.Args)-1:])
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
