// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

func keepsMembers(f *Facts) []Finding {
	var c *corev1.Container
	var found []Finding
	switch {
	case !f.Owner.WithoutStatefulSet():
		if c, found = f.probed(); c == nil {
			return found
		}
	case f.Pods.Err != nil:
		return []Finding{unknown("the pods", f.Pods.Err)}
	}
	stop := f.Owner.Product().StopScript
	known := stop != "" && runsAtStop(c, stop)
	if known {
		hook := etcdconf.MemberChange{Container: c.Name, Hook: etcdconf.PreStop}.Where()
		found = append(found, warning(f.takeOut(stop, etcdconf.MemberChange{Container: c.Name, Hook: etcdconf.PreStop}), "%s runs %s, which removes the member: each eviction, restart and rollout takes a voter out of etcd", hook, stop))
	}
	for _, m := range f.Owner.MemberChanges {
		switch {
		case !m.RunsAtStop():
		case m.Unread != "" && !known:
			found = append(found, Finding{
				Level: Unknown, Message: "whether " + m.Where() + " removes the member: it has " + m.Command(),
				Fix: "read the script; if it removes the member, " + f.takeOut("that", m),
			})
		case m.RemovesLeaving():
			found = append(found, warning(f.takeOut(m.Command(), m),
				"%s has %s: each eviction, restart and rollout takes a voter out of etcd", m.Where(), m.Command()))
		case m.Verb == "remove":
			found = append(found, warning(f.takeOut(m.Command(), m),
				"%s has %s, on some of its ways or all: an eviction, a restart or a rollout may take a voter out of etcd", m.Where(), m.Command()))
		case m.AtStop():
			found = append(found, warning(f.takeOut("the "+m.Command(), m), "%s has %s: each eviction, restart and rollout leaves a voter without its data", m.Where(), m.Command()))
		}
	}
	return found
}

// runsAtStop reports whether a container's preStop hook runs a command. c may be nil.
func runsAtStop(c *corev1.Container, command string) bool {
	if c == nil || c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Exec == nil {
		return false
	}
	return slices.Contains(c.Lifecycle.PreStop.Exec.Command, command)
}

// takeOut returns how to take a command out of a hook. Each pod runs the old hook once more, so a rollout would take out
// one voter after the other.
func (f *Facts) takeOut(command string, of etcdconf.MemberChange) string {
	out := "take " + command + " out of " + of.Where()
	if f.Owner.WithoutStatefulSet() || len(f.Owner.PodsBeside) > 0 && of.Workload != "" && !f.Owner.Runs(of.Workload) {
		out = "one pod at a time, because each runs the old hook when it stops and must become a member again or be replaced, " + out
		if !f.Owner.WithoutStatefulSet() {
			return f.whenHealthy(out + " in the manifest of that pod")
		}
		return f.whenHealthy(f.change(out, ""))
	}
	return f.whenHealthy(f.change("set the update strategy OnDelete and "+out+
		"; then delete the pods one at a time: each runs the old hook when it stops, so wait until it is a member again, or replace it", ""))
}
