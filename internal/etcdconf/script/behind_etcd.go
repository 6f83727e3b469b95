// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// leads reports whether a part of the script has a command that runs etcd, or the call of a function that does.
func (w *walk) leads(part syntax.Node) bool {
	if w.script.work.exceeded() {
		return true
	}
	return hasOffset(w.toEtcd, part)
}

// leadsAny reports whether one of several statements does.
func (w *walk) leadsAny(statements []*syntax.Stmt) bool {
	return slices.ContainsFunc(statements, func(s *syntax.Stmt) bool { return w.leads(s) })
}

// entriesToEtcd returns the offsets of the commands that run etcd, and of the calls of the functions that do, in order.
func (s *Script) entriesToEtcd() (offsets []uint) {
	for _, call := range s.runs {
		offsets = append(offsets, call.Pos().Offset())
	}
	slices.Sort(offsets)
	callers, queue := map[string][]string{}, []string{}
	for name, bodies := range s.own.functions {
		for called := range s.effectsOfFunction(name).calls {
			callers[called] = append(callers[called], name)
		}
		if slices.ContainsFunc(bodies, func(body *syntax.Stmt) bool { return hasOffset(offsets, body) }) {
			queue = append(queue, name)
		}
	}
	leading := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if leading[name] || !s.work.spend(1) {
			continue
		}
		leading[name] = true
		queue = append(queue, callers[name]...)
		for _, call := range s.own.callsOf[name] {
			offsets = append(offsets, call.Pos().Offset())
		}
	}
	slices.Sort(offsets)
	return offsets
}

// hasOffset reports whether one of some offsets, which are in order, is within a part of the script.
func hasOffset(offsets []uint, part syntax.Node) bool {
	at, _ := slices.BinarySearch(offsets, part.Pos().Offset())
	return at < len(offsets) && offsets[at] < part.End().Offset()
}
