// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isFlag reports whether etcd reads an argument as a flag. It runs a member only if its first argument is one, or if it has none.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// isWord reports whether an argument begins with a text that is known, and is no flag.
func isWord(word string) bool { return !isFlag(word) && !startsUnknown(word) }

// startsUnknown reports whether the beginning of an argument is only known in the pod.
func startsUnknown(word string) bool {
	return strings.HasPrefix(word, UnknownWord) || strings.HasPrefix(word, "$(")
}

// memberFlags are flags that only a member has, and neither a proxy of etcd nor a backup.
var memberFlags = []string{
	"name", "listen-client-urls", "advertise-client-urls", "listen-peer-urls", "config-file",
	"initial-advertise-peer-urls", "initial-cluster", "initial-cluster-state", "initial-cluster-token",
}

// hasMemberFlag reports whether an argument is one of them.
func hasMemberFlag(args []string) bool {
	return slices.ContainsFunc(args, func(word string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		return isFlag(word) && slices.Contains(memberFlags, name)
	})
}

// hasMemberVariable reports whether the environment or the script sets a flag that only a member has.
func (s *Script) hasMemberVariable() bool {
	return slices.ContainsFunc(memberFlags, func(flag string) bool {
		name := "ETCD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		set := len(s.own.assigns[name]) > 0
		if s.around.Variable != nil && !set {
			_, set = s.around.Variable(name)
		}
		return set
	})
}

// surelyMember reports whether the command, which is etcd, runs a member with each of the values that its arguments may have.
// Where nothing is known of the first one, a flag or a variable that only a member has decides.
func (s *Script) surelyMember(c *syntax.CallExpr) bool {
	f := s.Fields(c)
	at := etcdAt(f.Argv)
	if s.mayBeProxy(f.Argv[:at]) {
		return false
	}
	if args := f.Argv[at+1:]; !slices.ContainsFunc(args, unknownField) {
		return len(args) == 0 || isFlag(args[0])
	}
	possible := s.possibleArguments(c, f, at)
	var all []string
	for _, p := range possible {
		all = append(all, p.fields...)
	}
	return !slices.ContainsFunc(all, asksForInformation) && s.startsWithFlag(possible, hasMemberFlag(all) || s.hasMemberVariable())
}

// mayBeProxy reports whether the script or the launchers before etcd set the variable with which etcd before 3.6 runs no member.
func (s *Script) mayBeProxy(before []string) bool {
	const name = "ETCD_PROXY"
	assigned := slices.ContainsFunc(s.own.assigns[name], func(a *syntax.Assign) bool {
		value, known := "", true
		if a.Value != nil {
			value, known = Literal(a.Value)
		}
		return !known || IsProxy(value)
	})
	return assigned || slices.ContainsFunc(before, func(word string) bool { return IsProxy(strings.TrimPrefix(word, name+"=")) })
}

// startsWithFlag reports whether the first of some arguments is a flag. isMember decides about one of which nothing is known.
func (s *Script) startsWithFlag(args []possible, isMember bool) bool {
	for _, p := range args {
		for _, first := range p.firsts {
			switch {
			case isFlag(first):
			case isWord(first) && (p.known || len(s.own.callsOf["shift"]) == 0): // shift may have taken it away
				return false
			case !isMember:
				return false
			}
		}
		if !p.none {
			return true
		}
	}
	return true
}

// possible are the values of an argument. fields are all fields of all values, and firsts is the first one of each. none is true
// where the argument may be no field, and known where it has one value.
type possible struct {
	fields, firsts []string
	none, known    bool
}

// possibleArguments returns what each argument of etcd may be, which is the field of an index.
func (s *Script) possibleArguments(c *syntax.CallExpr, f Fields, at int) (all []possible) {
	ofArgument := map[int][]string{}
	for i, word := range f.Argv[at+1:] {
		ofArgument[f.args[at+1+i]] = append(ofArgument[f.args[at+1+i]], word)
	}
	var in Scope
	for i := f.args[at]; i < len(c.Args); i++ {
		fields := ofArgument[i]
		p := possible{fields: fields, firsts: fields[:min(1, len(fields))], none: len(fields) == 0, known: true}
		if i > f.args[at] && slices.ContainsFunc(fields, unknownField) {
			if in.Script == nil {
				in = s.scopeOf(c)
			}
			p = in.possible(c.Args[i])
		}
		all = append(all, p)
	}
	return all
}

// possible returns what an argument may be by the values that its variables have on any way.
func (in Scope) possible(arg *syntax.Word) (p possible) {
	for _, value := range in.Commands([]*syntax.Word{arg}) {
		for i, field := range value {
			word := field.known()
			if i == 0 {
				p.firsts = append(p.firsts, word)
			}
			p.fields = append(p.fields, strings.Fields(word)...) // an array in quotes is one field here
		}
		p.none = p.none || len(value) == 0
	}
	return p
}

// scopeOf returns the scope of a command, with what variables and parameters may hold on any way through the script.
func (s *Script) scopeOf(c *syntax.CallExpr) Scope {
	if s.own.values == nil {
		s.own.values = newValues(s.around.Variable)
		in := Scope{Script: s, values: s.own.values}
		var given []Value
		for _, word := range s.given {
			value := textOf(strings.TrimSuffix(word, UnknownWord))
			if unknownField(word) {
				value = append(value, piece{text: "$ARGUMENT"})
			}
			given = append(given, value)
		}
		if s.given != nil {
			in.values.parameters[""] = [][]Value{given}
		}
		spent := s.spent
		in.Learn()
		s.spent = spent
	}
	in := Scope{Script: s, values: s.own.values}
	for name, bodies := range s.own.functions {
		if slices.ContainsFunc(bodies, func(body *syntax.Stmt) bool { return contains(body, c) }) {
			in.Within = name
		}
	}
	return in
}

// asksForInformation reports whether an argument has etcd only print its version or its flags.
func asksForInformation(word string) bool { return isFlag(word) && informs([]string{word}) }

// mayBeAnother reports whether the first of etcd's arguments, which no shell expands, is only known in the pod, and no other
// shows a member.
func mayBeAnother(args []string) bool {
	return len(args) > 0 && startsUnknown(args[0]) && !hasMemberFlag(args)
}

// isOfAName reports whether a command only has the name of etcd, such as a script of a system that starts and stops it: its
// first argument is no flag, and no subcommand of etcd.
func isOfAName(argv []string) bool {
	at := etcdAt(argv)
	return at >= 0 && at+1 < len(argv) && isWord(argv[at+1]) && !otherPrograms["etcd"+subcommand(argv[at+1:])]
}
