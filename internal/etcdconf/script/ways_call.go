// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// brief are commands that a script can end with, and that are not what its container is for.
var brief = map[string]bool{
	":": true, "[": true, "cat": true, "cd": true, "chmod": true, "chown": true, "cp": true, "date": true, "echo": true,
	"etcd":   true, // it prints its version or its flags
	"export": true, "false": true, "kill": true, "mkdir": true, "mv": true, "printf": true, "rm": true, "set": true,
	"sync": true, "test": true, "touch": true, "trap": true, "true": true, "unset": true, "wait": true,
}

// call follows a command. A program is run instead of etcd if exec starts it, or if etcd never runs behind it.
//
//nolint:gocyclo // one case a kind of command
func (w *walk) call(c *syntax.CallExpr, follows behind, background bool) ways {
	if !w.script.work.spend(w.script.workOfCall(c)) {
		return ways{other: true}
	}
	if c == w.target {
		return ways{etcd: true}
	}
	if program, is := w.script.etcdProgram(c); is && w.target == nil {
		ends := program == "etcd" && !w.script.stays(c, background) // what follows is what the container is for
		another := program != "etcd" || !w.script.surelyMember(c)
		if ends && background {
			return ways{other: another, on: true, beside: true, runs: true}
		}
		return ways{etcd: program == "etcd", other: another, on: ends}
	}
	argv := w.script.lookedUp(c)
	at := ProgramAt(argv)
	if at < 0 || at >= len(argv) { // an assignment, exec with redirections alone, or command -v
		if len(argv) > 1 && argv[0] == "exec" {
			return ways{other: true}
		}
		return w.assigns(c)
	}
	name := path.Base(argv[at])
	if bodies := w.script.own.functions[argv[0]]; len(bodies) > 0 {
		if background {
			return w.background(c, bodies, follows)
		}
		all := w.function(c, bodies, follows)
		if w.endsEtcd(c) {
			all.kills, all.mayKill = true, true
		}
		return all
	}
	switch {
	case name == "exit":
		return ways{exit: true, etcd: w.running}
	case name == "return":
		// Shells differ in whether it ends a script that isn't sourced.
		return ways{back: true, other: w.within+w.groups == 0}
	case name == "break" || name == "continue":
		return ways{leaves: w.loops > 0, on: w.loops == 0} // without a loop it does nothing
	case !w.trap && w.mayEnd(c, name, argv[at+1:]):
		return ways{other: true}
	case name == "alias" && commandOf(withoutCommand(c.Args)) != "alias": // it isn't among those of redefines
		return ways{other: true}
	case name == "trap" && w.traps(c), name == "set" && readSet(argv[at+1:]).noexec:
		return ways{other: true}
	case argv[0] == "exec", w.script.instead(argv, at, w.counted(follows)):
		never := neverEnds(argv, at)
		return ways{other: !never, idles: never, on: never && background}
	case !background && neverEnds(argv, at):
		return ways{exit: true}
	}
	all := w.mayFail(name)
	all.kills = !background && w.endsEtcd(c)
	all.mayKill = all.kills
	return all
}

// longSleep is how many seconds are as good as no end.
const longSleep = 24 * 60 * 60

// isLong reports whether an argument of sleep is as good as no end.
func isLong(word string) bool {
	number := strings.TrimRight(word, "smhd")
	count, err := strconv.ParseFloat(number, 64)
	return err == nil && count*unitOf[word[len(number):]] >= longSleep
}

// unitOf are the seconds of the units of sleep.
var unitOf = map[string]float64{"": 1, "s": 1, "m": 60, "h": 60 * 60, "d": 24 * 60 * 60}

// neverEnds reports whether a command never ends, so that nothing behind it is reached. The command has its program at
// an index.
func neverEnds(argv []string, at int) bool {
	args := argv[at+1:]
	if launchedBy(argv[:at+1], "timeout") {
		return false
	}
	switch path.Base(argv[at]) {
	case "sleep":
		return slices.ContainsFunc(args, isLong)
	case "tail":
		return slices.ContainsFunc(args, func(word string) bool {
			return strings.HasPrefix(word, "--follow") || word == "--retry" || len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word, "fF")
		})
	}
	return false
}
