// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// persist are the special commands of a shell before which an assignment remains, in some shells.
var persist = map[string]bool{
	":": true, ".": true, "eval": true, "exec": true, "exit": true, "export": true, "readonly": true, "return": true, "set": true,
	"shift": true, "times": true, "trap": true, "unset": true,
}

// builtin follows what a command changes in the shell itself, and reports whether it calls the function that runs etcd.
func (r *run) builtin(c *syntax.CallExpr, perhaps bool) bool {
	args := withoutCommand(c.Args)
	name := commandOf(args)
	bodies := r.script.own.functions[name]
	if len(bodies) > 0 || persist[name] {
		for _, a := range c.Assigns {
			r.makeUnknown(a.Name.Value)
		}
	}
	if len(bodies) > 0 && len(args) == len(c.Args) {
		return r.function(c, bodies, perhaps)
	}
	switch name {
	case ":": // its arguments assign defaults: ${NAME:=default}
		if !perhaps && !computes(c) {
			r.fields(args[1:])
			return false
		}
	case "set":
		r.setPositional(args[1:], perhaps)
	case "shift":
		r.shift(args[1:], perhaps)
	}
	r.makeUnknownIn(&syntax.CallExpr{Args: c.Args})
	return false
}

// computes reports whether a command has arithmetic, which may assign.
func computes(c *syntax.CallExpr) (does bool) {
	syntax.Walk(c, func(node syntax.Node) bool {
		_, is := node.(*syntax.ArithmExp)
		does = does || is
		return !does
	})
	return does
}

// assigners are commands whose arguments name variables that they change.
var assigners = map[string]bool{
	"read": true, "unset": true, "getopts": true, "export": true, "local": true, "readonly": true, "declare": true, "typeset": true,
	"mapfile": true, "readarray": true,
}

// function follows the call of a function, and reports whether that runs etcd. Its variables are the script's, and its
// parameters are the arguments of the call.
func (r *run) function(c *syntax.CallExpr, bodies []*syntax.Stmt, perhaps bool) bool {
	if !r.leadsToEtcd(c) {
		r.makeUnknownAll(r.script.effectsOfCall(commandOf(c.Args)))
		return false
	}
	positional, reset := r.positional, r.reset
	r.positional = append([]string{"sh"}, r.raw(c.Args[1:])...)
	r.reset = len(r.entries) > 2 // several calls
	for _, body := range bodies {
		if r.open[body] || !r.leadsToEtcd(body) {
			continue
		}
		r.open[body] = true
		if r.statements([]*syntax.Stmt{body}, perhaps) {
			return true
		}
		delete(r.open, body)
	}
	r.positional, r.reset = positional, reset
	return false
}

// makeUnknown makes a variable unknown.
func (r *run) makeUnknown(name string) {
	if isName(name) {
		r.vars[name] = r.asWritten("${" + name + "}")
		r.exported[name] = r.exported[name] || r.allexport
	}
}

// makeAllUnknown makes all variables and parameters unknown.
func (r *run) makeAllUnknown() {
	r.changed, r.reset = true, true
	r.script.work.spend(len(r.vars))
	for name := range r.vars {
		r.makeUnknown(name)
		r.exported[name] = true
	}
}

// makeUnknownIn makes the variables unknown that a node may assign, also in functions that it calls.
func (r *run) makeUnknownIn(node syntax.Node) {
	r.makeUnknownAll(r.script.assignedIn(node))
}

func (r *run) makeUnknownAll(e effects) {
	if e.any {
		r.makeAllUnknown()
	}
	for name := range e.names {
		if r.script.work.spend(1) {
			r.makeUnknown(name)
			r.exported[name] = r.exported[name] || e.allexport || e.exports[name]
		}
	}
	r.allexport = r.allexport || e.allexport
}

// entries returns a command with the calls of the functions that lead to it, as many as are followed.
func (s *Script) entries(call *syntax.CallExpr) []syntax.Node {
	entries := []syntax.Node{call}
	for i := 0; i < len(entries); i++ {
		for name, bodies := range s.own.functions {
			if !s.work.spend(1) {
				return entries
			}
			if !slices.ContainsFunc(bodies, func(body *syntax.Stmt) bool { return contains(body, entries[i]) }) {
				continue
			}
			for _, c := range s.own.callsOf[name] {
				if slices.Contains(entries, syntax.Node(c)) {
					continue
				}
				if len(entries) == maxCalls {
					s.work.spend(maxWork + 1) // what the other calls lead to isn't known
					return entries
				}
				entries = append(entries, c)
			}
		}
	}
	return entries
}

func contains(outer, inner syntax.Node) bool {
	return !outer.Pos().After(inner.Pos()) && outer.End().After(inner.Pos())
}
