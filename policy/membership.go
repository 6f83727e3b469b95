// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict says whether an act may go ahead. The zero Verdict refuses.
type Verdict struct {
	Allowed bool
	// Reason is stable and in CamelCase.
	Reason string
	// Message is for people: the numbers, and what would change them.
	Message string
	// Notes are what a person should hear although it changes nothing.
	Notes []Note
}

func allowed(reason, format string, args ...any) Verdict {
	return Verdict{Allowed: true, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func refused(reason, format string, args ...any) Verdict {
	return Verdict{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Peer is one entry of etcd's member list, and what is known of the member.
type Peer struct {
	ID uint64
	// URL is its peer URL: the one name that the list, the pod's configuration
	// and initial-cluster share.
	URL string
	// Place is the place from 0 of the pod that advertises URL, -1 where no pod
	// of the cluster would: then the member is a stranger.
	Place   int
	Learner bool
	// Healthy says that it answered for itself just now, as this member of this
	// cluster, and follows a leader. A member that has not started is not.
	Healthy bool
	Leader  bool
	// CaughtUp says that it was within LagLimit entries of its leader at each of
	// the last CatchUpReads reads.
	CaughtUp bool
}

// CatchUpReads is how many reads in a row must show a learner within
// [LagLimit] before it is promoted.
const CatchUpReads = 3

// votes counts the voters among peers, and those of them that are healthy.
func votes(peers []Peer) (voters, healthy int) {
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

// MayRemove says whether a member may be removed from etcd's list: there must be
// a quorum to agree to it, and the voters that are left must have one among
// those that are healthy now. A learner has no vote to lose.
func MayRemove(peers []Peer, id uint64) Verdict {
	at := slices.IndexFunc(peers, func(p Peer) bool { return p.ID == id })
	if at < 0 {
		return refused(NoSuchMember, "no member %016x is in the list of %s", id, count1(len(peers), "member"))
	}
	voters, healthy := votes(peers)
	if healthy < Quorum(voters) {
		return refused(NoQuorum, "%d of %s healthy, quorum is %d: nothing can be changed until it is back", healthy, count1(voters, "voter"), Quorum(voters))
	}
	if peers[at].Learner {
		return allowed(QuorumKept, "a learner has no vote: %d of %s stay healthy, quorum is %d", healthy, count1(voters, "voter"), Quorum(voters))
	}
	left := voters - 1
	if left == 0 {
		return refused(LastMember, "it is the only voter: without it there is no cluster")
	}
	well := healthy
	if peers[at].Healthy {
		well--
	}
	if well < Quorum(left) {
		return refused(QuorumWouldBeLost, "%d of %s would be healthy, quorum is %d; now it is %d of %d, quorum %d",
			well, count1(left, "voter"), Quorum(left), healthy, voters, Quorum(voters))
	}
	return allowed(QuorumKept, "%d of %s stay healthy, quorum is %d", well, count1(left, "voter"), Quorum(left))
}

// MayAdd says whether a learner may be added. etcd takes one at a time, and none
// while a voter is down: that one goes first, or comes back.
func MayAdd(peers []Peer) Verdict {
	var down []string
	for _, p := range peers {
		switch {
		case p.Learner:
			return refused(LearnerPresent, "member %016x is a learner already: it is promoted or removed before another is added", p.ID)
		case !p.Healthy:
			down = append(down, fmt.Sprintf("%016x", p.ID))
		}
	}
	voters, healthy := votes(peers)
	if healthy < Quorum(voters) {
		return refused(NoQuorum, "%d of %s healthy, quorum is %d: nothing can be changed until it is back", healthy, count1(voters, "voter"), Quorum(voters))
	}
	if len(down) > 0 {
		return refused(VoterDown, "%d of %s healthy (not %s): etcd adds nobody while a voter is down; a dead member is removed or replaced first",
			healthy, count1(voters, "voter"), strings.Join(down, ", "))
	}
	return allowed(QuorumKept, "%s, all healthy", count1(voters, "voter"))
}

func count1(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
