// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Removal is what is needed to remove one member from etcd, outside of a scale operation.
type Removal struct {
	Reader  *observe.Reader
	Owner   owner.Owner
	Members *etcd.Cluster
	Clock   clock.Clock
	// Force removes a voter that doesn't answer although its pod exists.
	Force bool
	// Lost declares that a voter can't come back of which it is not known where it ran.
	Lost bool
	// Idle returns an error if an unfinished operation may be about a member of etcd's list, which
	// has so many members. Nil means no check.
	Idle func(ctx context.Context, l etcd.Listed, members int) error
}

// Silence finds out what is known of a voter that doesn't answer: whether another pod of the
// namespace may run it, whether a workload of it would, and whether the leader is in contact with it.
// The latter takes some seconds.
func (r Removal) Silence(ctx context.Context, s etcd.Survey, l etcd.Listed) membership.Silence {
	out := membership.Silence{Pod: cmp.Or(l.Pod, l.DuePod(r.Owner, s.List)), Forced: r.Force, Lost: r.Lost}
	if other, answers := s.Other(l.ID); answers {
		out.Elsewhere, out.Contact = []string{other.Pod}, membership.ContactAnswers
		return out
	}
	if out.Pod == "" {
		others := map[string]bool{}
		for _, other := range s.List {
			if other.Pod != "" {
				others[other.Pod] = true
			}
		}
		peer := peerIn(l)
		var err error
		if out.Elsewhere, err = peers.PodsOf(ctx, r.Reader, r.Owner.Namespace, peer, others); err != nil {
			out.Unknown = err.Error()
		}
		again, found, err := peers.StoppedWorkloadOf(ctx, r.Reader, r.Owner, peer)
		out.Stopped, out.Replicas, out.StoppedPerhaps = again.Target, again.Replicas, found && !again.Certain
		if err != nil {
			out.Unknown = err.Error()
		}
	}
	if pods, err := r.Reader.MemberPods(ctx, r.Owner); err == nil { // without them, nothing shows since when it runs
		out.Predates = s.Predates(l, etcd.RunningSince(pods))
	}
	pod := cmp.Or(out.Pod, l.PodNamed(r.Owner))
	volumes, err := s.VolumesOf(ctx, r.Reader, r.Owner, l, pod)
	if err != nil {
		out.VolumesUnread = err.Error()
	}
	out.OlderVolume = s.OlderVolume(l, pod, volumes)
	contact, why := r.Contact(ctx, s, l.ID)
	out.Contact = contact
	if why != "" {
		out.Unknown = why
	}
	return out
}

// peerIn returns a member of etcd's list as the objects of the namespace may name it.
func peerIn(l etcd.Listed) peers.Peer { return peers.Peer{Name: l.Name, URLs: l.PeerURLs} }

// InContact reports whether a member that doesn't answer runs in the log of the others: the leader receives messages from
// it, or is it.
func (r Removal) InContact(ctx context.Context, s etcd.Survey, id uint64) bool {
	contact, _ := r.Contact(ctx, s, id)
	return contact >= membership.ContactActive
}

// Contact asks the members that answer about another one. An unknown contact has its
// reason.
func (r Removal) Contact(ctx context.Context, s etcd.Survey, id uint64) (membership.Contact, string) {
	if slices.ContainsFunc(s.Members, func(m etcd.Member) bool { return m.Err == nil && m.LeaderID == id }) {
		return membership.ContactLeads, ""
	}
	leader, ok := s.Leader()
	if !ok {
		return membership.ContactUnknown, "the leader doesn't answer"
	}
	contact, err := r.Members.Contact(ctx, leader.Pod, id, r.Clock)
	switch {
	case err != nil:
		return membership.ContactUnknown, err.Error()
	case contact.Receiving:
		return membership.ContactActive, ""
	case contact.Connected:
		return membership.ContactSilent, ""
	}
	return membership.ContactNone, ""
}
