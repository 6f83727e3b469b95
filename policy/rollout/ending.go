// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// end returns the step by which a hold ends. The controller of each StatefulSet waits for its own pods only, so
// the StatefulSets of a cluster are released one after the other: the next one when all members of the others
// are ready, or after the limit since the last one, so that the hold ends in any case. A quorum that is lost is not
// waited for, only the members that are about to come back: etcd may have a quorum although no pod is Ready.
func (f Facts) end(limit time.Duration, reason policy.Reason, message string) Step {
	at := f.nextSet()
	switch {
	case at < 0 || len(f.Sets) == 1:
		return f.release(reason, "%s", message)
	case f.Since < limit && !f.lost() && !f.othersReady(at):
		return f.unchanged(f.hold(OneByOne, "%s, and StatefulSet %s is released when all members of the others are ready", message, f.Sets[at].Name))
	case f.waiting() == 1:
		return f.release(reason, "%s", message)
	}
	set := &f.Sets[at]
	step := f.unchanged(f.step(Release, reason, message))
	step.Set, step.Values[at], step.Released[at] = set.Name, Value{Partition: set.Author}, f.ends(set)
	return step
}

// ends reports whether the hold of a set ends with its release. An author's strategy that restarts several pods
// at once is restored when no pod is left to restart.
func (f Facts) ends(s *Set) bool { return !s.Several || s.complete() || f.Cluster.Single() }

// goesOn reports whether a set was released, and gets the rest of its author's strategy when it is complete.
func (s *Set) goesOn() bool {
	return s.Held && s.Several && s.Value == Value{Partition: s.Author}
}

// waits reports whether a set is yet to be released.
func (s *Set) waits() bool { return s.Held && !s.complete() && !s.goesOn() }

func (f Facts) waiting() int {
	n := 0
	for i := range f.Sets {
		if f.Sets[i].waits() {
			n++
		}
	}
	return n
}

// nextSet returns the set that is released next, -1 for none. One with a member that is not ready is the first,
// since no other may be released before that is ready, and the one with the leader is the last.
func (f Facts) nextSet() int {
	at, best := -1, 0
	for i := range f.Sets {
		set := &f.Sets[i]
		if !set.waits() {
			continue
		}
		rank := 2
		switch {
		case slices.ContainsFunc(set.Pods, func(p Pod) bool { return !p.well() }):
			rank = 3
		case slices.ContainsFunc(set.Pods, func(p Pod) bool { return p.Leader }):
			rank = 1
		}
		if rank > best {
			at, best = i, rank
		}
	}
	return at
}

// othersReady reports whether all members that a set does not run are ready, and none of them is about to stop.
func (f Facts) othersReady(at int) bool {
	if !f.Confirmed {
		return false
	}
	ready := 0
	for i := range f.Sets {
		set := &f.Sets[i]
		if i == at {
			continue
		}
		if set.restarts() || slices.ContainsFunc(set.Pods, func(p Pod) bool { return !p.well() || slices.Contains(f.Leaving, p.Pod) }) {
			return false
		}
		ready += len(set.Pods)
	}
	return ready+len(f.Sets[at].Pods) >= f.Cluster.Size
}

// restarts reports whether the set's controller restarts a pod now, or may do so.
func (s *Set) restarts() bool {
	if !s.Observed {
		return true
	}
	for i, p := range s.Pods {
		if p.outdated() && !s.Value.OnDelete && i >= s.Value.Partition {
			return true
		}
	}
	return false
}

// lost reports whether there is no quorum, and no member is about to stop or to come back.
func (f Facts) lost() bool {
	if f.Cluster.ReadyVoters() >= policy.Quorum(f.Cluster.Size) || f.Since < releaseLimit && slices.ContainsFunc(f.Sets, func(s Set) bool { return s.restarts() }) {
		return false
	}
	return len(f.named(func(p Pod) bool {
		switch {
		case p.well():
			return false
		case p.missing():
			return p.MissingFor < createLimit
		}
		return p.Going || p.MayRun || p.starting() || p.NotReadyFor < outageLimit
	})) == 0
}

// unchanged leaves the sets that were released before as they are.
func (f Facts) unchanged(step Step) Step {
	for i := range f.Sets {
		if f.Sets[i].goesOn() && !f.Sets[i].complete() {
			step.Values[i] = f.Sets[i].Value
		}
	}
	return step
}
