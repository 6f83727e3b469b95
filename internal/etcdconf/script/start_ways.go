// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"iter"
	"strings"
)

// Way is what a script gives to etcd on one of the ways through it.
type Way struct {
	// Args are etcd's arguments. What only the pod knows remains as written.
	Args []string
	// Sourced is true where a file or text that isn't read may have set any variable.
	Sourced bool
	run     *run
}

// environ returns a variable of a container's environment. unknown is why its value is not known.
type environ func(name string) (value string, ok bool, unknown error)

// Way returns what the script gives to etcd on the way that shows most of the member. There must be such
// a way: Unread returns nil. A variable of env that is unknown remains as written. hostname is what the
// command of that name prints.
func (i Invocation) Way(env environ, hostname string) Way { return i.wayOf(i.Script, env, hostname) }

// OtherWays returns the same of each other command that runs a member, as far as they are followed: see
// Exceeded.
func (i Invocation) OtherWays(env environ, hostname string) iter.Seq[Way] {
	return func(yield func(Way) bool) {
		for _, call := range i.Script.others {
			if call == i.Script.etcd {
				continue
			}
			if i.Script.work.exceeded() {
				return
			}
			other := *i.Script
			other.etcd, other.etcdFields = call, i.Script.Fields(call)
			if !yield(i.wayOf(&other, env, hostname)) {
				return
			}
		}
	}
}

// wayOf follows a script. A variable that is not known is neither unset nor empty: it remains as written.
func (i Invocation) wayOf(s *Script, env environ, hostname string) Way {
	var r *run
	r = newRun(s, func(name string) (string, bool) {
		value, ok, unknown := env(name)
		if !ok && unknown != nil && !setByShell[name] {
			return r.asWritten("${" + name + "}"), true
		}
		return value, ok
	}, hostname, i.positional)
	args := r.etcdArgs()
	return Way{Args: args, Sourced: r.changed, run: r}
}

// Variable returns a variable of the environment that the script gives to etcd, with what is not
// known as it is written.
func (w Way) Variable(name string) (string, bool) {
	value, ok := w.run.environ(name)
	return w.run.render(value), ok
}

// Sets reports whether the script sets a variable.
func (w Way) Sets(name string) bool { _, ok := w.run.vars[name]; return ok }

// setByShell are variables that a shell or the container's runtime sets. They are not taken to be from
// an object that is not read.
var setByShell = map[string]bool{"IFS": true, "PWD": true, "OLDPWD": true, "HOSTNAME": true, "HOME": true, "PATH": true}

// mostShown is how many bytes of a text of a pod a message has at most.
const mostShown = 160

// Cut returns the beginning of a text of a pod, as a message shows it.
func Cut(text string) string { return cut(text, mostShown) }

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
