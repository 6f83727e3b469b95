// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package membership has the rules about changes of the members: add, remove, promote, replace and scale.
// Its table is docs/rules/membership.md.
package membership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Peer is one entry of etcd's member list, with the facts about the member.
type Peer struct {
	ID uint64
	// URL is its peer URL, the only name that the list, the pod's configuration and
	// initial-cluster share.
	URL string
	// Ordinal is the ordinal of the pod that advertises URL, -1 if no pod of the cluster
	// would. Then the member is a foreign one.
	Ordinal int
	Learner bool
	// Healthy is true if it has just answered as this member of this cluster and follows a
	// leader. It is false for a member that has not started.
	Healthy bool
	Leader  bool
	// CaughtUp is true if it was within LagLimit entries of its leader at each of the last
	// CatchUpReads reads.
	CaughtUp bool
}

// CatchUpReads is how many reads in a row must show a learner within [policy.LagLimit] before it is
// promoted.
const CatchUpReads = 3

// Votes returns the number of voters, and of healthy voters.
func Votes(peers []Peer) (voters, healthy int) {
	for _, p := range peers {
		if p.Learner {
			continue
		}
		voters++
		if p.Healthy {
			healthy++
		}
	}
	return voters, healthy
}

// MayRemove returns whether a member may be removed from etcd's list. A quorum must be healthy to
// agree to it, and the remaining voters must have a quorum of healthy ones. A learner has no vote,
// so only the first applies.
func MayRemove(peers []Peer, id uint64) policy.Verdict {
	at := slices.IndexFunc(peers, func(p Peer) bool { return p.ID == id })
	if at < 0 {
		return policy.Refuse(policy.NoSuchMember, "no member %016x is in the list of %s", id, policy.Count(len(peers), "member"))
	}
	voters, healthy := Votes(peers)
	if healthy < policy.Quorum(voters) {
		return policy.Refuse(policy.NoQuorum, "%d of %s healthy, quorum is %d: members can't be changed before the quorum is restored", healthy, policy.Count(voters, "voter"), policy.Quorum(voters))
	}
	if peers[at].Learner {
		return policy.Allow(policy.QuorumKept, "a learner has no vote: %d of %s stay healthy, quorum is %d", healthy, policy.Count(voters, "voter"), policy.Quorum(voters))
	}
	left := voters - 1
	if left == 0 {
		return policy.Refuse(LastMember, "it is the only voter: without it there is no cluster")
	}
	well := healthy
	if peers[at].Healthy {
		well--
	}
	if well < policy.Quorum(left) {
		return policy.Refuse(QuorumWouldBeLost, "%d of %s would be healthy, quorum is %d; now it is %d of %d, quorum %d",
			well, policy.Count(left, "voter"), policy.Quorum(left), healthy, voters, policy.Quorum(voters))
	}
	return policy.Allow(policy.QuorumKept, "%d of %s stay healthy, quorum is %d", well, policy.Count(left, "voter"), policy.Quorum(left))
}

// MayAdd returns whether a learner may be added. etcd accepts one learner at a time, and none while
// a voter is down. That voter must be removed or repaired first.
func MayAdd(peers []Peer) policy.Verdict {
	var down []string
	for _, p := range peers {
		switch {
		case p.Learner:
			return policy.Refuse(policy.LearnerPresent, "member %016x is a learner already: promote or remove it before another is added", p.ID)
		case !p.Healthy:
			down = append(down, fmt.Sprintf("%016x", p.ID))
		}
	}
	voters, healthy := Votes(peers)
	if healthy < policy.Quorum(voters) {
		return policy.Refuse(policy.NoQuorum, "%d of %s healthy, quorum is %d: members can't be changed before the quorum is restored", healthy, policy.Count(voters, "voter"), policy.Quorum(voters))
	}
	if len(down) > 0 {
		return policy.Refuse(VoterDown, "%d of %s healthy (not %s): etcd adds no member while a voter is down; remove or replace a dead member first",
			healthy, policy.Count(voters, "voter"), strings.Join(down, ", "))
	}
	return policy.Allow(policy.QuorumKept, "%s, all healthy", policy.Count(voters, "voter"))
}
