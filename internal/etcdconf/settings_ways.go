// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import "errors"

// maxOthers is how many other commands of a script that run etcd are read.
const maxOthers = 8

var errManyWays = errors.New("the script has too many commands that run etcd")

// of follows the script up to the command that runs etcd, and returns etcd's arguments.
func (s *settings) of(started invocation, env *environment) []string {
	r := runOf(started, env)
	argv := r.etcdArgs()
	s.env, s.script, s.scriptFile, s.sourced = r.rendered, true, started.file, r.changed
	s.inScript = func(variable string) bool { _, ok := r.vars[variable]; return ok }
	return argv
}

// readOthers reads what the other ways of the script give to etcd.
func (s *settings) readOthers(started invocation, env *environment) error {
	if len(started.script.others) > maxOthers {
		s.many = errManyWays
		return nil
	}
	for _, call := range started.script.others {
		if call == started.script.etcd {
			continue
		}
		if started.script.work.exceeded() {
			break
		}
		other := *started.script
		other.etcd, other.etcdFields = call, started.script.fields(call)
		way := started
		way.script = &other
		o := &settings{unknown: env.unknown}
		var rest []string
		if o.flags, rest = flagsAndRest(o.of(way, env)); len(rest) > 0 && unresolved(rest[0]) {
			o.opaque = cut(rest[0], mostShown)
		}
		if err := o.readFile(env); err != nil {
			return err
		}
		s.others = append(s.others, o)
	}
	if started.script.work.exceeded() {
		s.many = errTooMuchWork
	}
	return nil
}
