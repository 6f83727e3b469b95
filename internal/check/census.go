// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// census is who votes, who answers and who follows whom.
type census struct {
	// voters is how many there are: by the member list, or, where nobody has
	// one, by what the owner asks for.
	voters int
	// leader is whom most members follow, 0 for nobody.
	leader uint64
	// following are the voters that answer and follow the leader.
	following []string
	// silent don't answer; unasked could not be asked: a permission or a
	// certificate is in the way, which says nothing of the member.
	silent, unasked []etcd.Member
}

func (c census) quorum() int { return policy.Quorum(c.voters) }

// slack is how many more voters may fail.
func (c census) slack() int { return len(c.following) - c.quorum() }

func (f *Facts) census() census {
	s := f.Survey.Value
	c := census{leader: commonLeader(s.Members)}
	learners := 0
	for _, m := range s.Members {
		switch {
		case m.Err != nil && f.Barred[m.Pod]:
			c.unasked = append(c.unasked, m)
		case m.Err != nil:
			c.silent = append(c.silent, m)
		case m.Learner:
			learners++
		case m.LeaderID != 0 && m.LeaderID == c.leader:
			c.following = append(c.following, m.Pod)
		}
	}
	for _, l := range s.List {
		if !l.Learner {
			c.voters++
		}
	}
	if s.ListErr != nil || len(s.List) == 0 {
		c.voters = max(f.size(), len(s.Members)-learners)
	}
	return c
}

// commonLeader is whom most members follow; among equals the one that says
// itself that it leads.
func commonLeader(members []etcd.Member) uint64 {
	votes := map[uint64]int{}
	for _, m := range members {
		if m.Err == nil && m.LeaderID != 0 {
			votes[m.LeaderID] += 2
			if m.Leader {
				votes[m.LeaderID]++
			}
		}
	}
	var best uint64
	for id, n := range votes {
		if n > votes[best] || n == votes[best] && id < best {
			best = id
		}
	}
	return best
}

// answering are the members that answered.
func (f *Facts) answering() []etcd.Member {
	return slices.DeleteFunc(slices.Clone(f.Survey.Value.Members), func(m etcd.Member) bool { return m.Err != nil })
}

// asked guards a check that judges what members say: false with the finding
// that says why there is nothing to judge.
func (f *Facts) asked() ([]Finding, bool) {
	switch {
	case f.Survey.Err != nil:
		return []Finding{unknown("the members could not be asked", f.Survey.Err)}, false
	case len(f.Survey.Value.Members) == 0 && f.size() == 0:
		return notApplicable("the cluster is scaled to 0"), false
	case len(f.answering()) == 0:
		return []Finding{{Level: Unknown, Message: "no member answers"}}, false
	}
	return nil, true
}

func pods(members []etcd.Member) []string {
	names := make([]string, 0, len(members))
	for _, m := range members {
		names = append(names, m.Pod)
	}
	return names
}
