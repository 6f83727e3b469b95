// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// pass records what ways that the walk has behind it did: an etcd in the background that they started excuses what runs
// beside it, until one may have been ended.
func (w *walk) pass(done ways) {
	w.accompanies = w.accompanies && !done.mayKill || done.beside
	w.running = w.running && !done.kills || done.runs
}

// beside is what runs beside a command.
type beside struct{ accompanies, running bool }

func (w *walk) besides() beside { return beside{w.accompanies, w.running} }

func (w *walk) setBeside(b beside) { w.accompanies, w.running = b.accompanies, b.running }

// runsEtcd reports whether some way runs etcd, also one that the script may end.
func (w ways) runsEtcd() bool { return w.etcd || w.runs }

// detached returns the ways of a process in the background for the script that goes on beside it. A script that ends
// processes may end the etcd of that one.
func (w *walk) detached(process ways, part syntax.Node) ways {
	process.kills, process.mayKill = false, false
	if process.etcd && w.target == nil && w.script.own.kills {
		process.beside, process.runs = !process.on, true
		process.etcd, process.on = false, true
	}
	process.on = process.on || !process.etcd && !w.waits(part)
	return process
}

// endsEtcd reports whether a command may end the etcd that runs in the background: no signal to another process.
func (w *walk) endsEtcd(c *syntax.CallExpr) bool {
	if w.target != nil || w.trap || !w.script.endsProcesses(c.Args) {
		return false
	}
	args := withoutCommand(c.Args)
	if path.Base(commandOf(args)) != "kill" {
		return true
	}
	others := false
	for _, arg := range args[1:] {
		text, literal := Literal(arg)
		if literal && strings.HasPrefix(text, "-") {
			continue
		}
		name, is := parameterOf(arg)
		if !is || !w.isOther(name) {
			return true
		}
		others = true
	}
	return !others
}

// isOther reports whether a variable only has the numbers of processes that aren't etcd: $! is given to it right behind
// each of them.
func (w *walk) isOther(variable string) bool {
	if other, done := w.others[variable]; done {
		return other
	}
	assigns := w.script.own.assigns[variable]
	other := len(assigns) > 0
	for _, a := range assigns {
		other = other && w.isOfOther(a)
	}
	if w.others == nil {
		w.others = map[string]bool{}
	}
	w.others[variable] = other
	return other
}

// isOfOther reports whether an assignment gives the number of a process that isn't etcd.
func (w *walk) isOfOther(a *syntax.Assign) bool {
	if a.Value == nil || a.Append {
		return false
	}
	if name, is := parameterOf(a.Value); !is || name != "!" {
		return false
	}
	before := strings.TrimRight(w.script.Text[:a.Pos().Offset()], " \t\n;")
	job := w.script.own.jobs[uint(len(before))]
	return job != nil && !w.leads(job)
}

// parameterOf returns the parameter that a word is, in quotes or not.
func parameterOf(word *syntax.Word) (string, bool) {
	parts := word.Parts
	if len(parts) != 1 {
		return "", false
	}
	if quoted, is := parts[0].(*syntax.DblQuoted); is && len(quoted.Parts) == 1 {
		parts = quoted.Parts
	}
	p, is := parts[0].(*syntax.ParamExp)
	if !is || p.Param == nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		return "", false
	}
	return p.Param.Value, true
}
