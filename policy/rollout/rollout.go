// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout is the rule about restarts of members with a new pod template. It holds the
// rollout of a StatefulSet, and releases one pod at a time while the cluster is well. Its table is
// docs/rules/rollout.md.
//
// It returns the strategy that each StatefulSet is to have now. The webhook holds a write with it,
// and the controller does its steps.
package rollout

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/words"
)

// Settings are the settings of the rule.
type Settings struct {
	// HoldLimit is how long a cluster that is not well may hold a rollout that costs no quorum.
	HoldLimit time.Duration
}

// Act is what the rule decides.
type Act string

// The acts. The zero act holds.
const (
	// Hold restarts no further pod.
	Hold Act = ""
	// Next has the StatefulSet's controller restart one more pod.
	Next Act = "Next"
	// Restart deletes a pod that is down, so that it is created again with the new template.
	Restart Act = "Restart"
	// Release gives the author's strategy back to all sets.
	Release Act = "Release"
)

// Step is the verdict.
type Step struct {
	Act    Act
	Reason policy.Reason
	// Message has the numbers.
	Message string
	// Pod is the one of Next and Restart.
	Pod string
	// Delete is true if the pod must be deleted now. It is false until the strategy with which it gets
	// the new template is in force.
	Delete bool
	// Values are the strategies of the sets, in their order. Released are those of which the hold
	// ends: they get back what their author chose.
	Values   []Value
	Released []bool
}

// Evaluate returns the next step of a rollout. The rows of docs/rules/rollout.md are in the same
// order; the first that applies wins.
func Evaluate(f Facts, s Settings) Step {
	f.Cluster.Operation = ""
	switch {
	case !slices.ContainsFunc(f.Sets, func(s Set) bool { return s.Held && !s.complete() }):
		return f.release(Complete, "every pod has the new template")
	case f.Reason != "":
		return f.release(ReleasedByHand, "a user released it: %s", f.Reason)
	case f.Cluster.Size <= 1:
		return f.release(OneMember, "the cluster has one member, and its restart interrupts the cluster in any case")
	case f.Cluster.TrafficCut:
		return f.hold(policy.ClientTrafficCut, "client traffic is cut: a member that restarts can't rejoin until it is restored (kubectl etcd restore-client-traffic)")
	}
	if step, waits := f.wait(); waits {
		return step
	}
	limit := f.Since >= s.HoldLimit
	if f.Cluster.Stale && !limit {
		return f.hold(policy.FactsStale, "the current state of the members is unknown")
	}
	if step, cures := f.cure(); cures {
		return step
	}
	well := policy.Precondition(f.Cluster, "")
	switch {
	case well.Allowed:
		return f.next(well.Reason, well.Message)
	case limit && f.affordable():
		return f.next(HoldLimitPassed, fmt.Sprintf("%s, but the rollout has waited for %s, and a quorum stays without one more", well.Message, s.HoldLimit))
	}
	return f.hold(well.Reason, "%s", well.Message)
}

// wait returns the step while a change is on its way.
func (f Facts) wait() (Step, bool) {
	if !f.Confirmed {
		return f.hold(Unconfirmed, "the age of the members' leases is not known yet"), true
	}
	for i := range f.Sets {
		if set := &f.Sets[i]; set.Held && !set.Observed {
			step := f.hold(NotObserved, "the StatefulSet's controller has not seen the last change of %s yet", set.Name)
			for j := range f.Sets {
				step.Values[j], step.Released[j] = f.Sets[j].Value, false // the templates of the pods are not known
			}
			return step, true
		}
	}
	// A pod that was released is recorded as one that leaves, too.
	if leaving := slices.DeleteFunc(slices.Clone(f.Leaving), f.released); len(leaving) > 0 {
		return f.hold(PodLeaving, "%s being evicted", words.Names(leaving, "is", "are")), true
	}
	if absent := f.named(Pod.absent); len(absent) > 0 {
		return f.hold(PodAbsent, "%s being created again", words.Names(absent, "is", "are")), true
	}
	return Step{}, false
}

// cure returns the step while a pod is down. A pod that fails with the new template stops everything,
// unless there is no quorum to lose: then none may be ready before the others restart.
func (f Facts) cure() (Step, bool) {
	quorum := f.Cluster.ReadyVoters() >= policy.Quorum(f.Cluster.Size)
	updated := f.named(func(p Pod) bool { return p.Updated && !p.well() })
	set, at := f.broken()
	switch {
	case len(updated) > 0 && (quorum || set == nil || set.Ordered):
		return f.hold(UpdatedNotReady, "%s not ready with the new template, so the others keep the old one; if it does not start, correct the template", words.Names(updated, "is", "are")), true
	case set == nil:
		return Step{}, false
	}
	pod := set.Pods[at]
	step := f.step(Restart, policy.CuresMember, fmt.Sprintf("%s is down with the old template, and gets the new one", pod.Pod))
	step.Pod = pod.Pod
	for i := range f.Sets {
		if &f.Sets[i] == set {
			step.Values[i] = set.restarting(at)
			step.Delete = set.Observed && set.Value == step.Values[i]
		}
	}
	return step, true
}

// broken returns the next pod that is down with an old template, nil for none. A controller that
// works in order creates no pod above one that is not Ready.
func (f Facts) broken() (*Set, int) {
	for i := range f.Sets {
		set := &f.Sets[i]
		var down []int
		for at := set.Author; at < len(set.Pods); at++ {
			if p := set.Pods[at]; p.down() && p.outdated() {
				down = append(down, at)
			}
		}
		switch {
		case !set.Held || len(down) == 0:
		case set.Ordered:
			return set, down[0]
		default:
			return set, down[len(down)-1]
		}
	}
	return nil, 0
}

// affordable reports whether a quorum of voters stays ready when one more restarts.
func (f Facts) affordable() bool {
	return f.Cluster.ReadyVoters()-1 >= policy.Quorum(f.Cluster.Size)
}

// next releases the highest pod of a set that has the old template: of a cluster that spans several,
// the set with the leader is the last.
func (f Facts) next(reason policy.Reason, message string) Step {
	at := -1
	for i := range f.Sets {
		set := &f.Sets[i]
		if !set.Held || set.next() < 0 {
			continue
		}
		if leads := slices.ContainsFunc(set.Pods, func(p Pod) bool { return p.Leader }); at < 0 || !leads {
			at = i
		}
	}
	if at < 0 {
		return f.hold(NotObserved, "the StatefulSet's controller has not counted every pod yet")
	}
	set := &f.Sets[at]
	pod := set.next()
	step := f.step(Next, reason, message)
	step.Pod, step.Values[at] = set.Pods[pod].Pod, Value{Partition: pod}
	return step
}

func (f Facts) hold(reason policy.Reason, format string, args ...any) Step {
	return f.step(Hold, reason, fmt.Sprintf(format, args...))
}

// release ends the hold of all sets.
func (f Facts) release(reason policy.Reason, format string, args ...any) Step {
	step := f.step(Release, reason, fmt.Sprintf(format, args...))
	for i, set := range f.Sets {
		if set.Held {
			step.Values[i], step.Released[i] = Value{Partition: set.Author}, true
		}
	}
	return step
}

// step returns a step by which no pod restarts. A set that is complete is released.
func (f Facts) step(act Act, reason policy.Reason, message string) Step {
	step := Step{Act: act, Reason: reason, Message: message, Values: make([]Value, len(f.Sets)), Released: make([]bool, len(f.Sets))}
	for i := range f.Sets {
		switch set := &f.Sets[i]; {
		case !set.Held:
			step.Values[i] = set.Value
		case set.complete():
			step.Values[i], step.Released[i] = Value{Partition: set.Author}, true
		default:
			step.Values[i] = set.held()
		}
	}
	return step
}

// released reports whether the StatefulSet's controller is about to restart a pod.
func (f Facts) released(pod string) bool {
	return slices.ContainsFunc(f.Sets, func(s Set) bool {
		next := s.next()
		return s.Held && !s.Value.OnDelete && next >= s.Value.Partition && s.Pods[next].Pod == pod
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
