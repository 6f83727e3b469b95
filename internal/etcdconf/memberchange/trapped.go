// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// stopSignals are the signal with which the kubelet stops a container, and that of a shell's end.
var stopSignals = map[string]bool{"TERM": true, "EXIT": true, "15": true, "0": true}

// stops reports whether a command sets a trap that runs when the script is to stop.
func stops(argv []string) bool {
	return len(argv) > 2 && argv[0] == "trap" && slices.ContainsFunc(argv[2:], func(signal string) bool {
		return stopSignals[strings.TrimPrefix(strings.ToUpper(signal), "SIG")]
	})
}

// execsEtcd reports whether a script gives its process to etcd.
func execsEtcd(statements []*syntax.Stmt) (found bool) {
	for _, statement := range statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 1 {
				argv := literals(call)
				found = found || argv[0] == "exec" && path.Base(argv[1]) == "etcd"
			}
			return !found
		})
	}
	return found
}

// trappedIn returns the functions of a script that its traps call when it is to stop, and those that these call.
func trappedIn(statements []*syntax.Stmt) map[string]bool {
	calls, trapped := map[string][]string{}, map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if _, is := calls[name]; is && !trapped[name] {
			trapped[name] = true
			for _, other := range calls[name] {
				add(other)
			}
		}
	}
	var actions []string
	for _, statement := range statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.FuncDecl:
				calls[n.Name.Value] = append(calls[n.Name.Value], calledIn(n.Body)...)
			case *syntax.CallExpr:
				if argv := literals(n); stops(argv) {
					actions = append(actions, argv[1])
				}
			}
			return true
		})
	}
	for _, action := range actions {
		for _, name := range strings.FieldsFunc(action, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(";&|(){}", r) }) {
			add(name)
		}
	}
	return trapped
}

// calledIn returns the names of the commands in a function.
func calledIn(body *syntax.Stmt) (names []string) {
	syntax.Walk(body, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 {
			names = append(names, literals(call)[0])
		}
		return true
	})
	return names
}

// literals returns the arguments of a command, empty for those that a shell expands.
func literals(call *syntax.CallExpr) []string {
	argv := make([]string, len(call.Args))
	for i, arg := range call.Args {
		argv[i], _ = script.Literal(arg)
	}
	return argv
}
