// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// peers writes etcd's list as a string, one letter for each ordinal: v a healthy
// voter, x one that is down, L the leader, l a learner that answers, c one that
// has caught up, d one that is down, and - an ordinal without a member. IDs are the
// ordinals from 1, or the letters' own where a test has them.
func peers(letters string) []Peer {
	var all []Peer
	for at, letter := range letters {
		if letter == '-' {
			continue
		}
		all = append(all, Peer{
			ID: uint64(at + 1), URL: modelURL(at), Ordinal: at,
			Learner: letter == 'l' || letter == 'c' || letter == 'd',
			Healthy: letter != 'x' && letter != 'd', Leader: letter == 'L', CaughtUp: letter == 'c',
		})
	}
	return all
}

// membershipRows are the rows of docs/rules/membership.md about removing and
// adding. id is who is to be removed, 0 where a learner is to be added.
var membershipRows = []struct {
	row, members string
	id           uint64
	allowed      bool
	reason       policy.Reason
}{
	{row: "M-1 the dead one of three", members: "Lvx", id: 3, allowed: true, reason: policy.QuorumKept},
	{row: "M-1 a healthy one of three", members: "Lvv", id: 2, allowed: true, reason: policy.QuorumKept},
	{row: "M-1 one of two", members: "Lv", id: 1, allowed: true, reason: policy.QuorumKept},
	{row: "M-1 a dead one of five, another is dead", members: "Lvvxx", id: 4, allowed: true, reason: policy.QuorumKept},
	{row: "M-1 a healthy one of five, one is dead", members: "Lvvvx", id: 4, allowed: true, reason: policy.QuorumKept},
	{row: "M-2 a healthy one of three, one is dead", members: "Lvx", id: 2, reason: QuorumWouldBeLost},
	{row: "M-2 a healthy one of five, two are dead", members: "Lvvxx", id: 3, reason: QuorumWouldBeLost},
	{row: "M-3 two of three are dead", members: "vxx", id: 3, reason: policy.NoQuorum},
	{row: "M-3 one of two is dead", members: "vx", id: 2, reason: policy.NoQuorum},
	{row: "M-3 the learner of a cluster that is down", members: "vxxl", id: 4, reason: policy.NoQuorum},
	{row: "M-4 a learner that runs", members: "Lvvl", id: 4, allowed: true, reason: policy.QuorumKept},
	{row: "M-4 a learner that never started, one is dead", members: "Lvxd", id: 4, allowed: true, reason: policy.QuorumKept},
	{row: "M-5 the only one", members: "L", id: 1, reason: LastMember},
	{row: "M-5 the only voter", members: "Ll", id: 1, reason: LastMember},
	{row: "M-6 another member", members: "Lvv", id: 9, reason: policy.NoSuchMember},
	{row: "M-7 one", members: "L", allowed: true, reason: policy.QuorumKept},
	{row: "M-7 three", members: "vLv", allowed: true, reason: policy.QuorumKept},
	{row: "M-8 one of three is dead", members: "Lvx", reason: VoterDown},
	{row: "M-8 one of five is dead", members: "Lvxvv", reason: VoterDown},
	{row: "M-8 two of three are dead", members: "vxx", reason: policy.NoQuorum},
	{row: "M-9 a learner is there", members: "Lvvl", reason: policy.LearnerPresent},
	{row: "M-9 even one that is down", members: "Ld", reason: policy.LearnerPresent},
}

func TestMembership(t *testing.T) {
	t.Parallel()
	for _, r := range membershipRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			v := MayAdd(peers(r.members))
			if r.id != 0 {
				v = MayRemove(peers(r.members), r.id)
			}
			if v.Allowed != r.allowed || v.Reason != r.reason || v.Message == "" {
				t.Errorf("got %+v, want allowed %t for %s", v, r.allowed, r.reason)
			}
		})
	}
}

// TestMembershipMessage holds a refusal to its numbers.
func TestMembershipMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got  policy.Verdict
		want string
	}{
		{MayRemove(peers("Lvx"), 2), "1 of 2 voters would be healthy, quorum is 2; now it is 2 of 3, quorum 2"},
		{MayRemove(peers("vxx"), 3), "1 of 3 voters healthy, quorum is 2: members can't be changed before the quorum is restored"},
		{MayAdd(peers("Lvx")), "2 of 3 voters healthy (not 0000000000000003): etcd adds no member while a voter is down; remove or replace a dead member first"},
	} {
		if c.got.Message != c.want {
			t.Errorf("got %q, want %q", c.got.Message, c.want)
		}
	}
}

// TestMayRemoveEverything is the promise over all lists of up to seven: what may
// go leaves a quorum, and never is the only voter.
func TestMayRemoveEverything(t *testing.T) {
	t.Parallel()
	lists := []string{""}
	for at := 0; at < len(lists); at++ {
		if len(lists[at]) < 7 {
			for _, letter := range "vxld" {
				lists = append(lists, lists[at]+string(letter))
			}
		}
	}
	for _, l := range lists {
		for at := range l {
			id := uint64(at + 1)
			rest := peers(l[:at] + "-" + l[at+1:])
			voters, healthy := Votes(rest)
			before, well := Votes(peers(l))
			want := 2*well > before && voters > 0 && 2*healthy > voters
			if l[at] == 'l' || l[at] == 'd' {
				want = 2*well > before
			}
			if v := MayRemove(peers(l), id); v.Allowed != want {
				t.Fatalf("%s: may remove %d: %+v, want %t", l, id, v, want)
			}
		}
	}
}
