// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// killers are programs that end processes, and stoppers those that may do so by an argument.
var (
	killers  = map[string]bool{"kill": true, "pkill": true, "killall": true, "killall5": true, "killproc": true, "skill": true, "slay": true}
	stoppers = map[string][]string{
		"fuser": {"-k", "--kill"}, "start-stop-daemon": {"-K", "--stop"}, "systemctl": {"stop", "kill"}, "service": {"stop"}, "rc-service": {"stop"},
		"supervisorctl": {"stop", "shutdown"}, "s6-svc": {"-d", "-k"}, "sv": {"stop", "down"}, "etcd": {"stop"},
	}
)

// isKiller reports whether a word is the name or the path of a program that ends processes.
func isKiller(word string) bool { return killers[path.Base(word)] }

// endsProcesses reports whether a command ends processes, also by a function that may execute its arguments. With the signal 0
// it only asks whether they run.
func (s *Script) endsProcesses(args []*syntax.Word) bool {
	argv := make([]string, len(args))
	for i := range args {
		argv[i] = commandOf(args[i:])
	}
	at := ProgramAt(argv)
	if at < 0 {
		return false
	}
	name, rest := path.Base(argv[at]), argv[at+1:]
	switch {
	case name == "xargs" || s.own.functions[argv[at]] != nil:
		return slices.ContainsFunc(rest, isKiller)
	case stoppers[name] != nil:
		return slices.ContainsFunc(rest, func(word string) bool {
			return slices.ContainsFunc(stoppers[name], func(stop string) bool { return strings.HasPrefix(word, stop) })
		})
	}
	return killers[name] && !slices.Contains(rest, "-0")
}

// launchedBy reports whether a launcher of a name is among those of a command.
func launchedBy(argv []string, name string) bool {
	for at := 0; at < len(argv); {
		r, is := launchedAt(argv, at)
		if !is || !r.known {
			return false
		}
		if r.name == name {
			return true
		}
		at = r.next
	}
	return false
}

// stays reports whether a member that a command runs may be the one of the container. A script may also
// run one for its preparation, and end it.
func (s *Script) stays(call *syntax.CallExpr, background bool) bool {
	argv := s.argv(call)
	inTime := slices.ContainsFunc(s.own.timed, func(process *syntax.Subshell) bool { return contains(process, call) })
	return !inTime && (firstOf(argv) == "exec" || !launchedBy(argv, "timeout")) && (!background || !s.own.kills)
}

// waits reports whether the script may wait for a process in the background before it comes to the command that
// the walk looks for. A wait behind that command, or in the function of a trap, keeps nothing from running.
func (w *walk) waits(process syntax.Node) bool {
	if !w.script.own.waits {
		return false
	}
	from, to := process.End().Offset(), uint(len(w.script.Text))
	if last, found := w.lastEntry(); found {
		to = last
	}
	for _, statement := range w.script.Statements {
		if w.waitsIn(statement, from, to) {
			return true
		}
	}
	return false
}

// lastEntry returns the offset of the last command that leads to the one that the walk looks for.
func (w *walk) lastEntry() (last uint, found bool) {
	targets := append(slices.Clone(w.script.others), w.script.etcd)
	if w.target != nil {
		targets = []*syntax.CallExpr{w.target}
	}
	for _, target := range targets {
		if target == nil {
			continue
		}
		for _, entry := range w.script.entries(target) {
			last, found = max(last, entry.Pos().Offset()), true
		}
	}
	return last, found
}

// waitsIn reports whether a part of the script waits between two offsets, itself or by a function that it calls there.
func (w *walk) waitsIn(part syntax.Node, from, to uint) (waits bool) {
	syntax.Walk(part, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			at := n.Pos().Offset()
			waits = waits || at >= from && at <= to && w.script.waitsBy(n)
		}
		return !waits && w.script.work.spend(1)
	})
	return waits || w.script.work.exceeded()
}

// waitsBy reports whether a command waits for processes, or calls a function that does.
func (s *Script) waitsBy(call *syntax.CallExpr) bool {
	name := commandOf(withoutCommand(call.Args))
	return name == "wait" || s.own.functions[name] != nil && s.effectsOfCall(name).waits
}
