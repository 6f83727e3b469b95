// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Scope is a script, or a function in it, with what its variables may hold.
type Scope struct {
	Script *Script
	// Within is the function, empty for none.
	Within string
	values *values
}

// Open returns a script with the scripts that it executes in place of the commands that execute them.
// args are $1 and following, nil where they are not known.
func Open(text string, args []string, around Surroundings) Scope {
	p := splicer{around: around, left: MaxBytes}
	s := newScript(p.splice(text, nil), around)
	s.Err = s.parse()
	in := Scope{Script: s, values: newValues(around.Variable)}
	if args == nil {
		return in
	}
	var parameters []Value
	for _, arg := range args {
		parameters = append(parameters, textOf(arg))
	}
	in.values.parameters[""] = [][]Value{parameters}
	return in
}

// Nested calls f with a script that stands in this one, and can use its constants and variables.
func (in Scope) Nested(text string, f func(Scope)) {
	around := in.Script.around
	around.Variable = in.Script.known
	s := newScript(text, around)
	s.spent = in.Script.spent
	s.Err = s.parse()
	f(Scope{Script: s, values: in.values, Within: in.Within})
	in.Script.spent = s.spent
}

// Commands returns what a command may be by the values of variables, each as its fields.
func (in Scope) Commands(args []*syntax.Word) [][]Value {
	texts := []Value{{}}
	for i, arg := range args {
		if i > 0 {
			texts = in.values.product(texts, []Value{{{text: " ", known: true, breaks: true}}})
		}
		of := in.texts(arg.Parts, false)
		if name, ok := Literal(arg); ok && i == 0 {
			of = append(of, in.aliased(name)...)
		}
		texts = in.values.product(texts, of)
	}
	out := make([][]Value, len(texts))
	for i, text := range texts {
		if in.values.left -= text.length(); in.values.left < 0 {
			return [][]Value{{uncounted}}
		}
		out[i] = text.split()
	}
	return out
}

// aliased returns what an alias may stand for.
func (in Scope) aliased(name string) []Value {
	return unprotected(in.values.alias[name])
}

// Expands reports whether the values of variables, or an alias, decide about a command.
func (in Scope) Expands(call *syntax.CallExpr) bool {
	name := commandOf(call.Args)
	_, is := literals(call.Args)
	return !is || in.values.alias[name] != nil || name == "eval"
}

// FieldsOf returns the fields of a command of Commands.
func FieldsOf(c []Value) Fields {
	var f Fields
	for _, field := range c {
		f.Argv, f.Texts = append(f.Argv, field.beginning()), append(f.Texts, field.Written())
	}
	return f
}

// Inputs returns the texts that stand in a script as the input of a statement.
func (s *Script) Inputs(statement *syntax.Stmt) (texts []string) {
	for _, r := range statement.Redirs {
		switch {
		case r.Hdoc != nil:
			texts = append(texts, s.Source(r.Hdoc))
		case r.Op == syntax.WordHdoc && r.Word != nil:
			texts = append(texts, strings.Join(s.Texts(r.Word), " "))
		}
	}
	return texts
}
