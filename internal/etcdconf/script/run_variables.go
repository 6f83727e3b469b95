// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// environ returns a variable of the environment that the script gives to etcd.
func (r *run) environ(name string) (string, bool) {
	v, ok := r.vars[name]
	if r.removed[name] {
		return "", false
	}
	if r.cleared {
		return r.render(v), ok && r.given[name]
	}
	inherited, was := r.inherit(name)
	switch {
	case ok && (was || r.exported[name]):
		return r.render(v), true
	case ok:
		return "", false
	}
	return inherited, was
}

func (r *run) inherit(name string) (string, bool) {
	if r.inherited == nil {
		return "", false
	}
	value, ok := r.inherited(name)
	if !ok {
		return "", false
	}
	return strings.ToValidUTF8(value, "\uFFFD"), true
}

// variable returns a variable of the shell.
func (r *run) variable(name string) (string, bool) {
	if v, ok := r.vars[name]; ok {
		return v, true
	}
	if r.changed && !setByShell[name] {
		return r.asWritten("${" + name + "}"), true // what is not read may have set it
	}
	if v, ok := r.inherit(name); ok || name != "HOSTNAME" {
		return v, ok
	}
	return r.hostname, true
}

// setPositional follows set: its options, and its operands, which replace $1 and following.
func (r *run) setPositional(args []*syntax.Word, perhaps bool) {
	o := readSet(textsOf(args))
	r.allexport = r.allexport || o.allexport
	r.reset = r.reset || o.unclear
	if o.replaces {
		r.operands(args[o.operand:], perhaps)
	}
}

// shift follows the command of that name.
func (r *run) shift(args []*syntax.Word, perhaps bool) {
	zero, of := r.positional[:min(1, len(r.positional))], r.arguments()
	rest := shifted(args, of)
	r.reset = r.reset || perhaps || rest == nil || slices.ContainsFunc(of[:len(of)-len(rest)], isUnknown)
	if rest != nil {
		r.positional = append(slices.Clip(zero), rest...)
	}
}

// isUnknown reports whether a field has references to what is unknown: a shell may make any number of fields of it.
func isUnknown(field string) bool { return !known(field) }

func (r *run) operands(args []*syntax.Word, perhaps bool) {
	zero := r.positional[:min(1, len(r.positional))]
	if len(zero) == 0 {
		zero = []string{"sh"}
	}
	r.positional = append(zero[:1:1], r.raw(args)...)
	r.reset = r.reset || perhaps
}

func (r *run) assign(a *syntax.Assign, perhaps, export bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	r.exported[name] = r.exported[name] || export || r.allexport
	if a.Naked {
		return
	}
	before, set := r.variable(name)
	var value string
	if a.Array != nil || a.Index != nil {
		value = r.asWritten("${" + name + "}")
	} else {
		value = r.literal(a.Value)
	}
	switch {
	case a.Append && r.spend(before):
		value = before + value
	case a.Append:
		value = r.asWritten("${" + name + "}")
	}
	if perhaps && (!set || before != value) { // it is the one or the other
		value = r.asWritten("${" + name + "}")
	}
	r.vars[name] = value
}

// Get, Each and Set implement expand.WriteEnviron.

// Get returns a variable or a parameter of the shell.
func (r *run) Get(name string) expand.Variable {
	switch name {
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: r.arguments()}
	}
	value, ok := r.parameter(name)
	if !ok {
		return expand.Variable{}
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// Each calls nothing: no expansion that is done here lists variables.
func (r *run) Each(func(string, expand.Variable) bool) {}

// Set assigns what ${NAME:=default} does.
func (r *run) Set(name string, v expand.Variable) error {
	r.vars[name] = v.String()
	r.exported[name] = r.exported[name] || r.allexport
	return nil
}

// arguments returns what "$@" stands for.
func (r *run) arguments() []string { return r.positional[min(1, len(r.positional)):] }
