// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// effects are what a part of a script does by itself.
type effects struct {
	// names are the variables that it may assign, exports those of them that it may export, and calls the functions of the
	// script that it calls.
	names, exports, calls map[string]bool
	// allexport is true where it may have the shell export what it assigns.
	allexport bool
	// any is true where it may assign any variable.
	any bool
	// ends is true where it may run etcd or a program instead of it, end the script, never end, or define a function.
	ends bool
	// waits is true where it waits for processes.
	waits bool
}

// ending are commands that may end a script, or have something else do so.
var ending = map[string]bool{
	"exec": true, "exit": true, "trap": true, "eval": true, ".": true, "source": true, "set": true,
	"kill": true, "enable": true, "suspend": true, "logout": true,
}

// unread are commands that execute a file or a text which isn't read.
var unread = map[string]bool{"eval": true, ".": true, "source": true}

func newEffects() effects {
	return effects{names: map[string]bool{}, exports: map[string]bool{}, calls: map[string]bool{}}
}

// merge adds other effects, without the functions that are called.
func (e *effects) merge(other effects) {
	e.any, e.allexport = e.any || other.any, e.allexport || other.allexport
	e.ends, e.waits = e.ends || other.ends, e.waits || other.waits
	maps.Copy(e.names, other.names)
	maps.Copy(e.exports, other.exports)
}

// effectsOf returns the effects of a node. Beyond the bounds of work they are not complete.
func (s *Script) effectsOf(node syntax.Node) effects {
	e := newEffects()
	syntax.Walk(node, func(node syntax.Node) bool {
		if node == nil {
			return true
		}
		if call, is := node.(*syntax.CallExpr); is {
			e.add(s, call)
		}
		e.assigns(node)
		return s.work.spend(1)
	})
	return e
}

// assigns records the variable that a node assigns.
func (e *effects) assigns(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.WhileClause, *syntax.CStyleLoop, *syntax.FuncDecl:
		e.ends = true
	case *syntax.DeclClause:
		e.exportsOf(n)
	case *syntax.Assign:
		switch {
		case n.Name != nil:
			e.names[n.Name.Value] = true
		case n.Value != nil: // export $NAMES
			e.assignsTo(n.Value)
		}
	case *syntax.WordIter:
		e.names[n.Name.Value] = true
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			e.names[n.Param.Value] = true
		}
	case *syntax.BinaryArithm:
		e.computes(n.X)
	case *syntax.UnaryArithm:
		e.computes(n.X)
	}
}

// computes records the variable that arithmetic may assign.
func (e *effects) computes(operand syntax.ArithmExpr) {
	if word, is := operand.(*syntax.Word); is {
		e.names[word.Lit()] = true
	}
}

// add records what a command does.
func (e *effects) add(s *Script, call *syntax.CallExpr) {
	args := withoutCommand(call.Args)
	name := commandOf(args)
	if name == "printf" && len(args) > 2 && commandOf(args[1:]) == "-v" {
		e.assignsTo(args[2])
	}
	if assigners[name] {
		e.declares(name, args[1:])
	}
	e.allexport = e.allexport || name == "set" && readSet(textsOf(args[1:])).allexport
	e.any = e.any || unread[name]
	if len(s.own.functions[name]) > 0 {
		e.calls[name] = true
	}
	e.waits = e.waits || name == "wait"
	e.ends = e.ends || len(args) > 0 && mayEndBy(name)
}

// mayEndBy reports whether a command of a name may run etcd or another program instead, or end the script or etcd. Of an
// empty name it isn't known what it is.
func mayEndBy(name string) bool {
	base := path.Base(name)
	_, launches := launchers[base]
	return name == "" || launches || ending[name] || killers[base] || base == "xargs" || base == "etcd"
}

// declares records the variables that a builtin changes.
func (e *effects) declares(name string, args []*syntax.Word) {
	exports := exporting(name, textsOf(args))
	for _, arg := range args {
		e.assignsTo(arg)
		if exports {
			e.exports[assigned(arg)] = true
		}
	}
}

// assignsTo records the variable that an argument names, as NAME or NAME=value.
func (e *effects) assignsTo(arg *syntax.Word) {
	_, known := Literal(arg)
	e.names[assigned(arg)] = true
	e.any = e.any || !known
}

// assigned returns the variable that an argument names, as NAME or NAME=value.
func assigned(arg *syntax.Word) string {
	text, _ := Literal(arg)
	name, _, _ := strings.Cut(text, "=")
	return name
}

// exportsOf records the variables that a declaration exports.
func (e *effects) exportsOf(c *syntax.DeclClause) {
	if !exports(c) {
		return
	}
	for _, a := range c.Args {
		if a.Name != nil {
			e.exports[a.Name.Value] = true
		}
	}
}

// exports reports whether a declaration exports its variables.
func exports(c *syntax.DeclClause) bool {
	var options []*syntax.Word
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			options = append(options, a.Value)
		}
	}
	return exporting(c.Variant.Value, textsOf(options))
}

// declares are builtins that export what they declare with the option -x.
var declares = map[string]bool{"declare": true, "local": true, "typeset": true}

// exporting reports whether a builtin that declares variables may export them: export does, and any other one by its
// option -x.
func exporting(name string, args []string) bool {
	return name == "export" || declares[name] && slices.ContainsFunc(args, func(word string) bool {
		return strings.HasPrefix(word, UnknownWord) || strings.HasPrefix(word, "-") && strings.ContainsAny(word, "x"+UnknownWord)
	})
}

// assignedIn returns the effects of a node with the variables that functions may assign which it calls.
func (s *Script) assignedIn(node syntax.Node) effects {
	e := s.effectsOf(node)
	for name := range e.calls {
		called := s.effectsOfCall(name)
		if !s.work.spend(len(called.names)) {
			break
		}
		e.merge(called)
	}
	return e
}

// effectsOfCall returns the effects of a function with those of the functions that it calls.
func (s *Script) effectsOfCall(function string) effects {
	if e, done := s.own.all[function]; done {
		return e
	}
	e := newEffects()
	e.calls[function] = true
	for queue := []string{function}; len(queue) > 0; queue = queue[1:] {
		one := s.effectsOfFunction(queue[0])
		if !s.work.spend(len(one.names) + len(one.calls)) {
			break
		}
		e.merge(one)
		for name := range one.calls {
			if !e.calls[name] {
				e.calls[name] = true
				queue = append(queue, name)
			}
		}
	}
	s.own.all[function] = e
	return e
}

// effectsOfFunction returns the effects of a function's own bodies.
func (s *Script) effectsOfFunction(name string) effects {
	if e, done := s.own.each[name]; done {
		return e
	}
	all := newEffects()
	for _, body := range s.own.functions[name] {
		e := s.effectsOf(body)
		all.merge(e)
		maps.Copy(all.calls, e.calls)
	}
	s.own.each[name] = all
	return all
}
