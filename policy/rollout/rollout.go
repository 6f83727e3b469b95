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
)

// Settings are the settings of the rule.
type Settings struct {
	// HoldLimit is how long a cluster that is not well may hold a rollout that costs no quorum.
	HoldLimit time.Duration
	// Settle is how long a rollout that no policy holds any more waits until it is released.
	Settle time.Duration
}

// Evaluate returns the next step of a rollout. The rows of docs/rules/rollout.md are in the same
// order; the first that applies wins.
func Evaluate(f Facts, s Settings) Step {
	f.Cluster.Operation = ""
	if step, over := f.over(s); over {
		return step
	}
	if f.Cluster.TrafficCut {
		return f.hold(policy.ClientTrafficCut, "client traffic is cut: a member that restarts can't rejoin until it is restored (kubectl etcd restore-client-traffic %s)", f.Cluster.TargetArgs())
	}
	if f.Cluster.SizeUnknown != "" {
		return f.alone(s)
	}
	if step, waits := f.wait(); waits {
		return step
	}
	well := policy.Precondition(f.Cluster, "")
	if f.hidesQuorum() {
		return f.hold(well.Reason, "%s", well.Message)
	}
	if step, holds := f.peersMove(); holds {
		return step
	}
	limit := f.Since >= s.HoldLimit
	if f.Cluster.Stale && !limit {
		return f.hold(policy.FactsStale, "the current state of the members is unknown")
	}
	if step, cures := f.cure(); cures {
		return step
	}
	switch {
	case well.Allowed:
		return f.next(well.Reason, well.Message)
	case limit && f.affordable():
		return f.next(HoldLimitPassed, fmt.Sprintf("%s, but the rollout has waited for %s, and a quorum stays without one more member", well.Message, policy.Duration(s.HoldLimit)))
	}
	return f.hold(well.Reason, "%s", well.Message)
}

// over returns the step that ends the hold, if there is nothing left to hold or nothing that holds it.
func (f Facts) over(s Settings) (Step, bool) {
	switch {
	case !slices.ContainsFunc(f.Sets, func(s Set) bool { return s.Held && !s.complete() }):
		return f.release(Complete, "every pod has the new template"), true
	case f.Reason != "":
		return f.end(outageLimit, ReleasedByHand, "a user released it: "+f.Reason), true
	case f.Cluster.Single():
		return f.release(OneMember, "the cluster has one member, and its restart interrupts the cluster in any case"), true
	case f.Unguarded && f.UnguardedFor >= s.Settle:
		return f.end(s.HoldLimit, GuardEnded, "no policy holds it any more"), true
	}
	return Step{}, false
}

// hidesQuorum reports whether there may be a quorum that lost nodes hide. What is done without a quorum could take it.
func (f Facts) hidesQuorum() bool {
	return f.Cluster.ReadyVoters() < policy.Quorum(f.Cluster.Size) && f.Cluster.MayHaveQuorum()
}

// peersMove holds a rollout by which members lose each other. The restart of a member that is not healthy loses no
// connection that the others need: if it is so because of such a template, the one from before brings it back.
func (f Facts) peersMove() (Step, bool) {
	moved := f.named(func(p Pod) bool { return p.outdated() && p.PeersMove && (p.well() || p.Young || p.MayRun) })
	if len(moved) == 0 || !f.Cluster.MayHaveQuorum() {
		return Step{}, false
	}
	return f.hold(PeersMove, "%s for peers on other schemes or ports than the new template: if they restart one by one, the members lose each other", policy.Names(moved, "listens", "listen")), true
}

// alone returns the step of a cluster of which one member is known. Others may restart at this moment, so it
// waits for the hold limit: a user who lists the members, or releases it, ends that.
func (f Facts) alone(s Settings) Step {
	if step, holds := f.peersMove(); holds {
		return step
	}
	if f.Since < s.HoldLimit {
		return f.hold(policy.SizeUnknown, "it is not known which other members the cluster has (%s), and one of them may be down", f.Cluster.SizeUnknown)
	}
	return f.release(HoldLimitPassed, "the rollout has waited for %s, and it is still not known which other members the cluster has (%s)", policy.Duration(s.HoldLimit), f.Cluster.SizeUnknown)
}
