// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"slices"
	"strings"
)

// Environment is what the launchers of a program make of the environment that they get. The zero value passes all on.
type Environment struct {
	// Resets is a launcher of which only the pod knows what it passes on, such as sudo. Empty for none.
	Resets string
	// Root is a launcher that gives the program other files than it has itself, such as chroot. Empty for none.
	Root string
	// cleared is true where only what is assigned is passed on. A variable that is assigned or removed has an entry.
	cleared  bool
	assigned map[string]string
	removed  map[string]bool
}

// environmentOf returns what the launchers of a command do to the environment of its program.
func environmentOf(argv []string) (e Environment) {
	e.assigned, e.removed = map[string]string{}, map[string]bool{}
	for at := 0; at < len(argv); {
		r, is := launchedAt(argv, at)
		if !is || !r.known {
			break
		}
		e.pass(r)
		at = r.next
	}
	return e
}

// pass adds what one launcher does.
func (e *Environment) pass(r launched) {
	if r.resets != "" && r.has(r.resets) {
		e.Resets = r.name
		e.clear()
	}
	if options := otherRoots[r.name]; options != "" && r.has(options) {
		e.Root = r.name
	}
	for _, o := range r.options {
		switch {
		case r.name != "env":
		case o.name == "-" || o.name == "-i" || o.name == "--ignore-environment":
			e.clear()
		case o.name == "-u" || o.name == "--unset":
			delete(e.assigned, o.value)
			e.removed[o.value] = true
		}
	}
	for _, word := range r.assigned {
		name, value, _ := strings.Cut(word, "=")
		e.assigned[name] = value
		delete(e.removed, name)
	}
}

func (e *Environment) clear() {
	e.cleared = true
	clear(e.assigned)
	clear(e.removed)
}

// Changes reports whether the program gets another environment.
func (e Environment) Changes() bool {
	return e.cleared || len(e.assigned)+len(e.removed) > 0
}

// Lookup returns a variable of the program. inherited returns one that the launchers get.
func (e Environment) Lookup(name string, inherited func(string) (string, bool)) (string, bool) {
	if value, is := e.assigned[name]; is {
		return value, true
	}
	if e.cleared || e.removed[name] {
		return "", false
	}
	return inherited(name)
}

// Assigns reports whether a launcher sets a variable of the program.
func (e Environment) Assigns(name string) bool {
	_, is := e.assigned[name]
	return is
}

// Passes reports whether the program may get a variable as its launchers get it.
func (e Environment) Passes(name string) bool {
	return !e.Assigns(name) && !e.cleared && !e.removed[name]
}

// lost returns the commands of a shell that lose the variables which are not passed on. Where these are not known, all of them
// are unknown, as behind a file that isn't read. The name of a launcher stands for all files being others.
func (e Environment) lost() string {
	text := ""
	if e.Root != "" {
		text = e.Root + "\n"
	}
	if e.cleared {
		text += ". /dev/null\n"
	}
	for _, name := range slices.Sorted(maps.Keys(e.removed)) {
		if isName(name) {
			text += "unset " + name + "\n"
		}
	}
	return text
}

// behind returns the surroundings of a program behind launchers.
func (s Surroundings) behind(e Environment) Surroundings {
	if before := s.Variable; before != nil && e.Changes() {
		s.Variable = func(name string) (string, bool) {
			value, ok := e.Lookup(name, before)
			return value, ok && !strings.Contains(value, UnknownWord)
		}
		for _, value := range e.assigned {
			s.Names = s.Names || namesEtcd(value)
		}
	}
	return s
}

// launch gives the environment of the script to etcd through the launchers of its command.
func (r *run) launch(e Environment) {
	if e.cleared {
		r.cleared = true
	}
	r.changed = r.changed || e.Resets != ""
	for name := range e.removed {
		r.removed[name] = true
	}
	for name, value := range e.assigned {
		r.vars[name], r.exported[name], r.given[name] = value, true, true
	}
}
