// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restart is the rule about restarts of members one by one: which member is next, what is
// awaited, and what forbids it. Its table is docs/rules/restart.md.
//
// The rule has no memory. Which members have been restarted shows in their pods, so any process
// can continue after any other.
package restart

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Facts is the input of the rule.
type Facts struct {
	// Cluster is the cluster by its pods, leases and conditions.
	Cluster policy.Cluster
	// Members are the members by etcd's own answers, in ordinal order.
	Members []Member
	// Only is the pod of the only member to restart, empty for all members.
	Only string
	// LeaderUnknown is true if no observation can show which member leads, as without access to etcd. Then no
	// member need lead, and etcd itself transfers the leadership of a member that stops.
	LeaderUnknown bool
}

// Member is one member during a restart.
type Member struct {
	// Pod is the pod's name, or the member's name if it runs in no pod.
	Pod string
	// Recorded is true if its pod existed when the restart began.
	Recorded bool
	// Exists is true if it has a pod now, and New if that is another pod than the recorded one.
	Exists, New bool
	// Leaving is true if its pod is being deleted.
	Leaving bool
	// PodReady is the pod's Ready condition.
	PodReady bool
	// Trouble is why the member is not healthy, as text. It is empty for a member that has
	// just answered as this member of this cluster and follows a leader.
	Trouble string
	// NodeLost is why its node shows that the member is not to be counted on, empty for a node that is Ready or not
	// known. A restart repairs no node: the pod stays on it until it is back.
	NodeLost        string
	Learner, Leader bool
	// PeersDiffer is true if etcd's list has other peer URLs of the member than the right ones, and members
	// with these can't reach it. The right ones are those of its next pod before a coordinated restart has
	// stopped members, and those of its pod otherwise. PeersServed is true if its current pod has them, too.
	// Only a coordinated restart uses both. They are false if the right ones are not known.
	PeersDiffer, PeersServed bool
	// Behind is how many entries it has applied less than the leader.
	Behind uint64
}

// inFlight reports whether a restart of the member has begun and is not complete.
func (m Member) inFlight() bool {
	switch {
	case m.Leaving:
		return true
	case !m.Exists:
		return m.Recorded
	}
	return m.New && (m.unwell() || m.lags())
}

// Broken reports whether a restart can repair the member.
func (m Member) Broken() bool { return m.unwell() && m.NodeLost == "" }

// unwell reports whether the member or its pod is not ready.
func (m Member) unwell() bool { return !m.PodReady || m.Trouble != "" }

// lags reports whether the member has to catch up before another one may stop.
func (m Member) lags() bool { return m.Behind > policy.LagLimit }

// Kind is what is to be done next. The zero Kind is Blocked.
type Kind int

// The kinds.
const (
	// Blocked means that a rule forbids the next restart now.
	Blocked Kind = iota
	// Wait means that a restart is in progress.
	Wait
	// MoveLeader means that the member must transfer its leadership first.
	MoveLeader
	// Restart means that the member's pod is to be evicted.
	Restart
	// Done means that nothing is left to do.
	Done
)

// Step is the result of the rule.
type Step struct {
	Kind Kind
	// Pod is the member that is awaited, moved away from, or restarted.
	Pod    string
	Reason policy.Reason
	// Message is for users.
	Message string
	// Notes are what users should know.
	Notes []policy.Note
}

// Next returns the next step. The rows of docs/rules/restart.md are in the same order; the first
// that applies wins.
func Next(f Facts) Step {
	if s, ok := Awaited(f); ok {
		return s
	}
	next, ok := f.next()
	if !ok {
		return Step{Kind: Done, Reason: RestartComplete, Message: "every member that was to be restarted is back"}
	}
	return f.stop(next)
}

// Awaited returns the step that waits for a member whose restart is not complete. It returns false if there
// is none.
func Awaited(f Facts) (Step, bool) {
	at, ok := f.inFlight()
	if !ok {
		return Step{}, false
	}
	return Step{Kind: Wait, Pod: f.Members[at].Pod, Reason: MemberRestarting, Message: f.Members[at].awaited()}, true
}

// Stop returns the step by which the member of a pod stops now: Blocked, MoveLeader or Restart. It is for
// operations that choose the member themselves, and that wait for what is Awaited.
func Stop(f Facts, pod string) Step {
	at := slices.IndexFunc(f.Members, func(m Member) bool { return m.Pod == pod })
	if at < 0 {
		return Step{Pod: pod, Reason: policy.NoSuchMember, Message: pod + " is not one of the members"}
	}
	return f.stop(at)
}

func (f Facts) stop(at int) Step {
	m := f.Members[at]
	v := f.mayStop(at)
	step := Step{Kind: Restart, Pod: m.Pod, Reason: v.Reason, Message: v.Message, Notes: v.Notes}
	switch {
	case !v.Allowed:
		step.Kind = Blocked
	case m.Leader && f.voters() > 1:
		step.Kind, step.Reason, step.Message = MoveLeader, LeaderLast, m.Pod+" is the leader, and transfers its leadership before it stops"
	}
	return step
}

// inFlight returns a member whose restart is not complete. Of several, it is the first.
func (f Facts) inFlight() (int, bool) {
	for i, m := range f.Members {
		if m.inFlight() {
			return i, true
		}
	}
	return 0, false
}

// mayStop returns whether the member at an index may be stopped now.
func (f Facts) mayStop(at int) policy.Verdict {
	m, voters := f.Members[at], f.voters()
	healthy, lead := 0, false
	for i, other := range f.Members {
		lead = lead || other.Leader && other.Trouble == ""
		if i != at && !other.Learner && other.Trouble == "" {
			healthy++
		}
	}
	quorum := policy.Quorum(voters)
	switch {
	case !lead && voters > 1 && !f.LeaderUnknown:
		return policy.Refuse(policy.NoQuorum, "etcd has no leader that answers, so it is not known what a restart of %s would stop", m.Pod)
	case voters > 1 && !m.Learner && healthy < quorum:
		return policy.Refuse(QuorumNeedsAll, "without %s, only %s of %d would stay, quorum is %d%s", m.Pod, policy.Count(healthy, "healthy voter"), voters, quorum, policy.NodesLost(f.Cluster.Members))
	}
	if v, bad := f.othersWell(at); bad {
		return v
	}
	cures := ""
	if m.Broken() {
		cures = m.Pod
	}
	return policy.Precondition(f.withoutLearners(), cures)
}

// othersWell returns a refusal if a member that is not broken would stop beside one that is not well, or
// that has to catch up.
func (f Facts) othersWell(at int) (policy.Verdict, bool) {
	for i, other := range f.Members {
		switch {
		case i == at:
		case other.unwell() && !f.Members[at].Broken():
			return policy.Refuse(policy.MemberDown, "%s is not healthy: %s", other.Pod, other.problem()), true
		case other.lags() && !other.unwell():
			return policy.Refuse(policy.CatchingUp, "%s is %d entries behind the leader, and may be at most %d behind", other.Pod, other.Behind, policy.LagLimit), true
		}
	}
	return policy.Verdict{}, false
}

// withoutLearners returns the cluster as if its learners voted. A learner doesn't count for the
// quorum, so that one is there is no objection to a restart, as long as it is ready.
func (f Facts) withoutLearners() policy.Cluster {
	c := f.Cluster
	c.Members = append([]policy.Member{}, c.Members...)
	for i := range c.Members {
		c.Members[i].Learner = false
	}
	return c
}

func (f Facts) voters() int {
	n := 0
	for _, m := range f.Members {
		if !m.Learner {
			n++
		}
	}
	return n
}
