// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// maxOthers is how many commands of a script that run etcd are read.
const maxOthers = 8

// errManyWays and errTooMuchWork are returned for the settings of a script with ways that are not read.
var (
	errManyWays    = errors.New("the script has too many commands that run etcd")
	errTooMuchWork = errors.New("the script has too many calls to be followed here")
)

// of takes what a script gives to etcd on one way, and returns etcd's arguments.
func (s *settings) of(w script.Way, file string) []string {
	s.env, s.script, s.scriptFile, s.sourced, s.inScript = w.Variable, true, file, w.Sourced, w.Sets
	return w.Args
}

// readOthers reads what the other ways of the script give to etcd.
func (s *settings) readOthers(started script.Invocation, env *environment) error {
	if started.Script.Members() > maxOthers {
		s.many = errManyWays
		return nil
	}
	for w := range started.OtherWays(env.behind(started.Env), hostname(env.pod)) {
		o := &settings{unknown: env.unknown, replaced: s.replaced}
		var rest []string
		if o.flags, rest = script.Flags(o.of(w, started.File)); len(rest) > 0 && unresolved(rest[0]) {
			o.opaque = script.Cut(rest[0])
		}
		if err := o.readFile(env); err != nil {
			return err
		}
		s.others = append(s.others, o)
	}
	if started.Script.Exceeded() {
		s.many = errTooMuchWork
	}
	return nil
}
