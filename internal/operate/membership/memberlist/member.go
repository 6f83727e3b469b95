// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Peers returns the members of a survey's list as the rules need them, whichever workload runs them. One without a pod
// of the cluster is healthy if another pod answers as it, or if the members that answer follow it: a member drops its
// leader within an election timeout. CaughtUp is false for all of them: that takes several surveys.
func Peers(o owner.Owner, s etcd.Survey) []membership.Peer {
	answers, leader := map[string]etcd.Member{}, s.Followed()
	for _, m := range s.Members {
		answers[m.Pod] = m
	}
	var peers []membership.Peer
	for _, l := range s.List {
		p := membership.Peer{ID: l.ID, URL: strings.Join(slices.Sorted(slices.Values(l.PeerURLs)), ","), Ordinal: -1, Learner: l.Learner}
		if m, answered := answers[l.Pod]; l.Pod != "" {
			p.Ordinal = o.Ordinal(l.Pod)
			p.Healthy = answered && m.ID == l.ID && s.Healthy(m)
			p.Leader = p.Healthy && m.Leader
		} else {
			other, answers := s.Other(l.ID)
			p.Leader = l.ID == leader
			p.Healthy = p.Leader || answers && s.Healthy(other)
		}
		peers = append(peers, p)
	}
	return peers
}

// subject identifies the members of a survey's list, and which of them vote: another list is another quorum.
func subject(s etcd.Survey) string {
	var out []string
	for _, l := range s.List {
		out = append(out, fmt.Sprintf("%016x %t %q", l.ID, l.Learner, l.PeerURLs))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// findMember returns a member by its ID in hexadecimal, its name or its pod. One that has never started has no name:
// the host of its peer URL is the name of its pod.
func findMember(s etcd.Survey, word string) (etcd.Listed, error) {
	id, err := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 64)
	word = strings.TrimPrefix(word, "pod/")
	var found []etcd.Listed
	var all []string
	for _, l := range s.List {
		if err == nil && l.ID == id || word != "" && (l.Name == word || l.Pod == word || l.Name == "" && slices.Contains(l.Hosts(), word)) {
			found = append(found, l)
		}
		all = append(all, l.NameAndID())
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return etcd.Listed{}, fmt.Errorf("etcd has no member %q; it has %s", word, strings.Join(all, ", "))
	}
	return etcd.Listed{}, fmt.Errorf("%q may be any of %d members; name one by its ID: %s", word, len(found), strings.Join(all, ", "))
}

// unchanged reports whether a member is still in the list with the same ID, name and peer URLs.
func unchanged(s etcd.Survey, was etcd.Listed) bool {
	return slices.ContainsFunc(s.List, func(l etcd.Listed) bool {
		return l.ID == was.ID && l.Name == was.Name && slices.Equal(l.PeerURLs, was.PeerURLs)
	})
}

// MayRemove decides whether a member may be removed from etcd on its own: the voters that are
// left keep a quorum, and a voter that doesn't answer is dead.
func (r Removal) MayRemove(ctx context.Context, s etcd.Survey, l etcd.Listed) policy.Verdict {
	v, _ := r.mayRemove(ctx, s, l)
	return v
}

// mayRemove also returns what is known of a voter that doesn't answer.
func (r Removal) mayRemove(ctx context.Context, s etcd.Survey, l etcd.Listed) (policy.Verdict, membership.Silence) {
	peers := Peers(r.Owner, s)
	v := membership.MayRemove(peers, l.ID)
	at := slices.IndexFunc(peers, func(p membership.Peer) bool { return p.ID == l.ID })
	if !v.Allowed || l.Learner || l.Pod != "" && peers[at].Healthy { // useInstead refuses a healthy one with a pod
		return v, membership.Silence{}
	}
	silence := r.Silence(ctx, s, l)
	if dead := membership.IsDead(silence); !dead.Allowed {
		return dead, silence
	}
	return v, silence
}

// Remove removes a member from etcd. It surveys the cluster again, and refuses where the rules refuse
// by then. It transfers leadership from the member first.
func (r Removal) Remove(ctx context.Context, was etcd.Listed, held func() error) error {
	c, what := r.Members, "remove "+was.NameAndID()
	s, err := SurveyQuorum(ctx, c, r.Owner, what)
	if err != nil {
		return err
	}
	if !unchanged(s, was) {
		return fmt.Errorf("%s: its entry in etcd's list has changed: it was %s", what, was.PeerURLs)
	}
	if v := r.MayRemove(ctx, s, was); !v.Allowed {
		return &operate.RefusedError{What: what, Why: []string{v.Message}}
	}
	leader, err := LeaderOf(ctx, c, s)
	if err != nil {
		return err
	}
	if err := held(); err != nil {
		return err
	}
	if leader.Pod != was.Pod {
		return leader.Remove(ctx, was.ID)
	}
	peers := Peers(r.Owner, s)
	successor := slices.IndexFunc(peers, func(p membership.Peer) bool { return p.ID != was.ID && !p.Learner && p.Healthy })
	if successor < 0 {
		return leader.Remove(ctx, was.ID)
	}
	if err := maintenance.MoveLeaderTo(ctx, c, s, peers[successor].ID, r.Clock); err != nil {
		return err
	}
	return r.Remove(ctx, was, held)
}

// AddLearner adds a learner. It surveys the cluster again, and refuses where the rules refuse by then.
func AddLearner(ctx context.Context, c *etcd.Cluster, o owner.Owner, peerURLs []string, held func() error) (uint64, error) {
	s, err := SurveyQuorum(ctx, c, o, "add a member")
	if err != nil {
		return 0, err
	}
	if v := membership.MayAdd(Peers(o, s)); !v.Allowed {
		return 0, &operate.RefusedError{What: "add a member", Why: []string{v.Message}}
	}
	leader, err := LeaderOf(ctx, c, s)
	if err != nil {
		return 0, err
	}
	if err := held(); err != nil {
		return 0, err
	}
	return leader.Add(ctx, peerURLs)
}

// PromoteMember gives a learner its vote.
func PromoteMember(ctx context.Context, c *etcd.Cluster, o owner.Owner, was etcd.Listed, held func() error) error {
	s, err := SurveyQuorum(ctx, c, o, "promote "+was.NameAndID())
	if err != nil {
		return err
	}
	leader, err := LeaderOf(ctx, c, s)
	if err != nil {
		return err
	}
	if err := held(); err != nil {
		return err
	}
	return leader.Promote(ctx, was.ID)
}

// Behind returns how many entries a member is behind its leader, and false where that is unknown.
func Behind(s etcd.Survey, l etcd.Listed) (uint64, bool) {
	leader, _ := s.Leader()
	answers := s.Answers()
	at := slices.IndexFunc(answers, func(m etcd.Member) bool { return m.ID == l.ID })
	if at < 0 || leader.RaftIndex == 0 || answers[at].RaftApplied == 0 {
		return 0, false
	}
	return leader.RaftIndex - min(answers[at].RaftApplied, leader.RaftIndex), true
}
