// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// effects are what a part of a script does by itself.
type effects struct {
	// names are the variables that it may assign, and calls the functions of the script that it calls.
	names, calls map[string]bool
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

// effectsOf returns the effects of a node. Beyond the bounds of work they are not complete.
func (s *Script) effectsOf(node syntax.Node) effects {
	e := effects{names: map[string]bool{}, calls: map[string]bool{}}
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
		if word, is := n.X.(*syntax.Word); is {
			e.names[word.Lit()] = true
		}
	case *syntax.UnaryArithm:
		if word, is := n.X.(*syntax.Word); is {
			e.names[word.Lit()] = true
		}
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
		for _, arg := range args[1:] {
			e.assignsTo(arg)
		}
	}
	e.any = e.any || unread[name]
	if len(s.own.functions[name]) > 0 {
		e.calls[name] = true
	}
	e.waits = e.waits || name == "wait"
	_, launches := launchers[path.Base(name)]
	unknown := len(args) > 0 && name == ""
	e.ends = e.ends || unknown || launches || ending[name] || path.Base(name) == "etcd"
}

// assignsTo records the variable that an argument names, as NAME or NAME=value.
func (e *effects) assignsTo(arg *syntax.Word) {
	text, known := Literal(arg)
	text, _, _ = strings.Cut(text, "=")
	e.names[text] = true
	e.any = e.any || !known
}

// assignedIn returns the effects of a node with the variables that functions may assign which it calls.
func (s *Script) assignedIn(node syntax.Node) effects {
	e := s.effectsOf(node)
	for name := range e.calls {
		called := s.effectsOfCall(name)
		if !s.work.spend(len(called.names)) {
			break
		}
		e.any = e.any || called.any
		maps.Copy(e.names, called.names)
	}
	return e
}

// effectsOfCall returns the effects of a function with those of the functions that it calls.
func (s *Script) effectsOfCall(function string) effects {
	if e, done := s.own.all[function]; done {
		return e
	}
	e := effects{names: map[string]bool{}, calls: map[string]bool{function: true}}
	for queue := []string{function}; len(queue) > 0; queue = queue[1:] {
		one := s.effectsOfFunction(queue[0])
		if !s.work.spend(len(one.names) + len(one.calls)) {
			break
		}
		e.ends, e.any, e.waits = e.ends || one.ends, e.any || one.any, e.waits || one.waits
		maps.Copy(e.names, one.names)
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
	all := effects{names: map[string]bool{}, calls: map[string]bool{}}
	for _, body := range s.own.functions[name] {
		e := s.effectsOf(body)
		maps.Copy(all.names, e.names)
		maps.Copy(all.calls, e.calls)
		all.ends, all.any, all.waits = all.ends || e.ends, all.any || e.any, all.waits || e.waits
	}
	s.own.each[name] = all
	return all
}
