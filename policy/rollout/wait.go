// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// wait returns the step while a change is on its way, which may be that of a policy.
func (f Facts) wait() (Step, bool) {
	if !f.Confirmed {
		return f.hold(Unconfirmed, "the age of the members' leases is not known yet"), true
	}
	for i := range f.Sets {
		if set := &f.Sets[i]; set.Held && !set.Observed {
			step := f.hold(NotObserved, "the StatefulSet's controller has not seen the last change of %s yet", set.Name)
			for j := range f.Sets {
				step.Values[j], step.Released[j] = f.Sets[j].unobserved(f.Since), false
			}
			return step, true
		}
	}
	// A pod that was released is recorded as one that leaves, too.
	if leaving := slices.DeleteFunc(slices.Clone(f.Leaving), f.released); len(leaving) > 0 {
		return f.hold(PodLeaving, "%s being evicted", policy.Names(leaving, "is", "are")), true
	}
	if absent := f.absent(); len(absent) > 0 {
		return f.hold(PodAbsent, "%s being created again", policy.Names(absent, "is", "are")), true
	}
	if f.Unguarded {
		return f.hold(Unguarded, "no policy holds it any more; it is released after the settle time, unless a policy holds it again by then"), true
	}
	return Step{}, false
}

// unobserved returns the value of a set while its controller has not seen the last change. Which pods
// have the newest template is not known, so a pod that was released keeps that for a while. The record
// that keeps other members from being evicted beside it ends after a minute, so it is held before.
func (s *Set) unobserved(since time.Duration) Value {
	if s.Held && since >= releaseLimit && !s.Value.OnDelete {
		return Value{Partition: max(s.Value.Partition, len(s.Pods))}
	}
	return s.Value
}

// absent returns the pods that are being deleted or created again.
func (f Facts) absent() []string {
	var out []string
	for s := range f.Sets {
		set := &f.Sets[s]
		for i, p := range set.Pods {
			if p.Going || p.missing() && !set.uncreatable(i) && !set.waitsInOrder(i) {
				out = append(out, p.Pod)
			}
		}
	}
	return out
}

// released reports whether a pod is about to restart by the strategy in force. By OnDelete, it is deleted because it is
// ailing.
func (f Facts) released(pod string) bool {
	return slices.ContainsFunc(f.Sets, func(s Set) bool {
		if s.Value.OnDelete {
			return s.Held && slices.ContainsFunc(s.Pods, func(p Pod) bool { return p.Pod == pod && p.ailing() && p.outdated() })
		}
		next := s.next()
		return s.Held && next >= s.Value.Partition && s.Pods[next].Pod == pod
	})
}

// named returns the pods of all sets for which is reports true.
func (f Facts) named(is func(Pod) bool) []string {
	var out []string
	for _, set := range f.Sets {
		for _, p := range set.Pods {
			if is(p) {
				out = append(out, p.Pod)
			}
		}
	}
	return out
}
