// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package eviction is the rule about single evictions: whether the other members of a cluster
// have a quorum at this moment without the pod. Its table is docs/rules/eviction.md.
//
// The disruption budget is decided before, by facts that may be seconds old. This rule can
// refuse what the budget admits, never the reverse.
package eviction

import (
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Bound is how long an admitted eviction counts while its pod is still there. The API server
// gives up a request after one minute, so a pod that is there after that was not evicted.
const Bound = time.Minute

// Facts is the input of the rule.
type Facts struct {
	// Cluster is the cluster at this moment.
	Cluster policy.Cluster
	// Pod is the pod that is to be evicted.
	Pod string
	// Idle is true if the pod runs no etcd: it is Pending and never started etcd, has ended, or is being
	// deleted already.
	Idle bool
	// UnderWay are evictions that were admitted. Those of pods that are gone or being
	// deleted have no effect: the pods are not Ready.
	UnderWay []UnderWay
	// Settle is for how long a member that joined may be a learner after it became ready.
	Settle time.Duration
	// Removed are the pods that their StatefulSet has no replica for any more. They are still
	// there, and are deleted next.
	Removed []string
}

// UnderWay is an eviction that was admitted.
type UnderWay struct {
	Pod string
	// Age is the time since it was admitted.
	Age time.Duration
}

// counted reports whether the eviction may still happen.
func (u UnderWay) counted() bool { return u.Age < Bound }

// Result is whether a pod may be evicted.
type Result struct {
	policy.Verdict
	// Record is true for an eviction that must be counted until its pod is gone, since it takes a
	// healthy voter.
	Record bool
	// Lost is true for a refusal while too few voters are healthy for a quorum, also with the pod.
	Lost bool
}

// Evaluate returns whether a pod may be evicted. The rows of docs/rules/eviction.md are in the
// same order; the first that applies wins.
func Evaluate(f Facts) Result {
	t := count(f)
	switch {
	case t.pod == nil || f.Idle:
		return t.allow(NotMember, "%s runs no member", f.Pod)
	case t.n <= 1 && f.Cluster.SizeUnknown != "":
		way := "write the list of members into the pod template (--initial-cluster)"
		if !f.Cluster.Undeclared {
			way += "; or, " + f.Cluster.DeclareListed()
		}
		return t.refuse(policy.SizeUnknown, "it is not known which other members it has (%s), and they may need %s; %s", f.Cluster.SizeUnknown, f.Pod, way)
	case t.n <= 1:
		return t.allow(OneMember, "it has one member, and its eviction interrupts the cluster")
	case f.Cluster.Stale:
		return t.stale(f)
	case t.left >= t.stay && !t.pod.Ready && !t.podReady():
		return t.allow(policy.CuresMember, "%s is down, %d healthy voters stay without it, and quorum is %d", f.Pod, t.left, t.needed)
	case t.left >= t.stay:
		r := t.allow(policy.QuorumKept, "%d healthy voters stay without %s, and quorum is %d", t.left, f.Pod, t.needed)
		r.Record = t.takesVoter
		return r
	case t.left+len(t.leaving) >= t.stay:
		return t.refuse(EvictionUnderWay, "the eviction of %s admitted a moment ago, so without %s only %s would stay; wait until the evicted member is back",
			policy.Names(t.leaving, "was", "was"), f.Pod, policy.Count(t.left, "healthy voter"))
	case t.left+len(t.leaving) >= t.needed:
		return t.refuse(policy.MemberJoined, "without %s only %d would stay, and %s; wait until a member that joined has been ready for %s", f.Pod, t.left,
			policy.Names(t.learning, "joined a moment ago and may be a learner", "joined a moment ago and may be learners"), policy.Duration(f.Settle))
	}
	r := t.refuse(QuorumNeedsMember, "without %s only %d would stay; %s", f.Pod, t.left, t.way(f.Cluster))
	r.Lost = t.lost()
	return r
}

// now returns how many voters are healthy before anything is evicted.
func (t counts) now() int { return t.healthy + len(t.leaving) + len(t.removed) }

// lost reports whether too few voters are healthy for a quorum before anything is evicted. Those that may run on lost
// nodes may be a part of one.
func (t counts) lost() bool { return t.now()+t.mayRun < t.needed }

// way returns what makes the eviction possible. Members that nothing runs don't become healthy by
// waiting.
func (t counts) way(c policy.Cluster) string {
	switch {
	case t.missing == 0 && t.lost():
		return fmt.Sprintf("%d voters have no quorum now, and kubectl etcd diagnose %s shows the way back%s", t.voters, c.TargetArgs(), c.OrRaised())
	case t.missing == 0 && t.now() < t.needed:
		return "the members on lost nodes may run and be a quorum with the others; wait until these nodes are Ready, or until their members run on others"
	case t.missing == 0:
		return "wait until the other members are healthy"
	}
	how := fmt.Sprintf("start the missing members, or, if etcd has fewer than %d voters, set N to their number and %s", t.voters, c.DeclareVoters("N"))
	if c.Elsewhere > 0 {
		how = fmt.Sprintf("only the lists of the others name %d of the missing members, and these were not asked: %s; if nothing runs them, ", min(c.Elsewhere, t.missing), policy.CountElsewhere) + how
	}
	return how
}

// stale returns the result while no lease is fresh. Pods are then the only evidence: a Ready pod may
// be the one that keeps the quorum, and an unready one may go beside a quorum of Ready pods.
func (t counts) stale(f Facts) Result {
	if !t.podReady() && t.readyPods >= t.needed {
		return t.allow(policy.CuresMember, "no lease is fresh, but %s stay without %s, and quorum is %d", policy.Count(t.readyPods, "Ready pod"), f.Pod, t.needed)
	}
	return t.refuse(policy.FactsStale, "no lease is fresh, so it is not known which members are healthy; %s would stay without %s", policy.Count(t.readyPods, "Ready pod"), f.Pod)
}
