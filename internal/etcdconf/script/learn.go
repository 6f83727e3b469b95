// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Visit calls f with each node of a script, in the scope of the function that it is in. What is below a node is
// left out if f returns false.
func (in Scope) Visit(node syntax.Node, f func(in Scope, node syntax.Node) bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if n == nil {
			return true
		}
		if d, is := n.(*syntax.FuncDecl); is && f(in, n) {
			inner := in
			inner.Within = d.Name.Value
			inner.Visit(d.Body, f)
			return false
		}
		return f(in, n)
	})
}

// Learn records what the script gives to variables, aliases and parameters.
func (in Scope) Learn() {
	for round := range 2 { // a function stands before its calls
		if round > 0 && len(in.Script.own.functions) == 0 {
			break
		}
		for _, statement := range in.Script.Statements {
			in.Visit(statement, func(in Scope, node syntax.Node) bool {
				in.learn(node)
				return true
			})
		}
	}
}

// learn records what a node gives to variables and to parameters.
func (in Scope) learn(node syntax.Node) {
	v := in.values
	switch n := node.(type) {
	case *syntax.Assign:
		in.learnAssign(n)
	case *syntax.WordIter: // for NAME in …
		for _, item := range n.Items {
			for _, text := range in.texts(item.Parts, false) {
				v.add(v.variable, n.Name.Value, text.split()...)
			}
		}
	case *syntax.CallExpr:
		if args := withoutCommand(n.Args); len(args) > 0 {
			in.learnCall(args)
		}
	}
}

func (in Scope) learnAssign(a *syntax.Assign) {
	v := in.values
	switch {
	case a.Name == nil && a.Value != nil: // export "NAME=value"
		in.learnField(a.Value)
	case a.Name == nil || a.Naked:
	case a.Array != nil:
		var elements []*syntax.Word
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				elements = append(elements, e.Value)
			}
		}
		v.add(v.variable, a.Name.Value, in.joined(elements)...)
	case a.Append && len(v.variable[a.Name.Value]) > 0:
		v.add(v.variable, a.Name.Value, v.product(v.variable[a.Name.Value], in.wordTexts(a.Value))...)
	default:
		v.add(v.variable, a.Name.Value, in.wordTexts(a.Value)...)
	}
}

// learnField records the assignment in an argument NAME=value.
func (in Scope) learnField(arg *syntax.Word) {
	for _, text := range in.texts(arg.Parts, false) {
		if name, rest, is := text.assignment(); is {
			in.values.add(in.values.variable, name, rest)
		}
	}
}

// assignment returns the name and the value of a text NAME=value.
func (v Value) assignment() (name string, rest Value, is bool) {
	if len(v) == 0 || !v[0].known {
		return "", nil, false
	}
	name, first, is := strings.Cut(v[0].text, "=")
	return name, slices.Concat(textOf(first), v[1:]), is
}

func (in Scope) learnCall(args []*syntax.Word) {
	v := in.values
	name := commandOf(args)
	switch {
	case name == "alias":
		in.learnAliases(args[1:])
		return
	case name == "read" || name == "mapfile" || name == "readarray":
		in.learnRead(args[1:])
	case name == "printf" && len(args) > 3 && commandOf(args[1:]) == "-v":
		if of, ok := Literal(args[2]); ok {
			v.add(v.variable, of, in.joined(args[3:])...)
		}
	case name == "set":
		switch o := readSet(textsOf(args[1:])); {
		case o.replaces:
			in.learnParameters(in.Within, args[1+o.operand:])
		case o.unclear: // set NAME …, without --
			in.learnParameters(in.Within, args[o.operand:])
		}
	case in.Script.own.functions[name] != nil:
		in.learnParameters(name, args[1:])
	}
	for _, arg := range args { // env NAME=value
		if text := leading(arg); strings.Contains(text, "=") {
			in.learnField(arg)
		}
	}
}

// learnAliases records what alias defines.
func (in Scope) learnAliases(args []*syntax.Word) {
	for _, arg := range args {
		for _, text := range in.texts(arg.Parts, false) {
			if of, rest, is := text.assignment(); is {
				in.values.add(in.values.alias, of, rest)
			}
		}
	}
}

// learnRead records that the values of variables are input, which is not known.
func (in Scope) learnRead(args []*syntax.Word) {
	for _, arg := range args {
		if of, ok := Literal(arg); ok && isName(of) {
			in.values.add(in.values.variable, of, Value{{text: "$" + of}})
		}
	}
}

// leading returns the text with which an argument begins, without what a shell expands.
func leading(arg *syntax.Word) string {
	text, _ := Literal(&syntax.Word{Parts: arg.Parts[:1]})
	return text
}

// learnParameters records what a function is called with, or what set gives to a script.
func (in Scope) learnParameters(function string, args []*syntax.Word) {
	v := in.values
	for _, fields := range in.Commands(args) {
		if len(v.parameters[function]) > mostValues {
			return
		}
		if len(v.parameters[function]) == mostValues {
			fields = []Value{uncounted}
		}
		v.parameters[function] = append(v.parameters[function], fields)
	}
}
