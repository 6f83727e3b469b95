// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// state is the facts and what is counted in them.
type state struct {
	Facts

	voters, quorum int
	// ready counts the voters that are well, unseen those of which nothing is known, and within
	// those that are not well and have time to come back. back are those of them that can: whose data is not lost.
	ready, unseen, within, back int
	// hidden counts the voters that something shows, and that no known member is.
	hidden int
	// past and waiting are the members that the cluster should have and that are not well: those
	// whose time is over, and the others.
	past, waiting []Member
	// superfluous are members that the cluster should not have and that no pod runs.
	superfluous []Member
	// outside are pods whose etcd is in no member list, and learners the learners.
	outside, learners []Member
	// predating are members that are not well, and that may have the data from before the others began again.
	predating []Member
	// unreadyWell are members that are well in a pod that is not Ready.
	unreadyWell []Member
	// next is when the first grace period ends, zero for none.
	next time.Time
}

func count(f Facts) *state {
	s := &state{Facts: f}
	if f.Reporter == "" { // another program's conditions of these names have other meanings
		s.Ready, s.AllMembersReady = policy.Condition{}, policy.Condition{}
	}
	for _, m := range f.Members {
		s.add(m)
	}
	s.hidden = max(f.Voters-s.voters, 0)
	s.voters += s.hidden
	s.quorum = policy.Quorum(s.voters)
	return s
}

//nolint:gocyclo // one case a state of a member
func (s *state) add(m Member) {
	c := conditionOf(m)
	switch {
	case c == outside && m.Asked && m.Pod != PodMissing:
		s.outside = append(s.outside, m)
	case c == learning && (m.Asked || m.Pod != PodMissing):
		s.learners = append(s.learners, m)
	}
	if !m.Asked && m.Pod == PodMissing && (m.Listed == Voter || m.Listed == Learner || m.Lease != NoLease || m.Status != StatusNone) {
		s.superfluous = append(s.superfluous, m)
	}
	if !s.counts(m) {
		return
	}
	s.voters++
	if m.mayPredate() && (c == silent || c == notReady) {
		s.predating = append(s.predating, m)
	}
	until, over := s.grace(m)
	switch {
	case c == well:
		s.ready++
		if m.Pod != PodReady && m.Pod != PodUnseen && m.Pod != PodMissing {
			s.unreadyWell = append(s.unreadyWell, m)
		}
		return
	case c == unseen:
		s.unseen++
		return
	case !over:
		s.within++
		s.back += one(s.comesBack(m))
		if s.next.IsZero() || until.Before(s.next) {
			s.next = until
		}
	}
	switch {
	case !m.Asked:
	case over:
		s.past = append(s.past, m)
	default:
		s.waiting = append(s.waiting, m)
	}
}

// comesBack reports whether a member can bring the quorum back by itself: its data is not lost, or the sidecar restores
// the only member from a backup (I-7).
func (f Facts) comesBack(m Member) bool {
	return !m.lost() || f.Sidecar && f.Desired == 1 && f.Voters <= 1
}

// kept reports whether a quorum is well. It is false, as lost is, if members of which nothing is known decide.
func (s *state) kept() bool { return s.voters > 0 && s.ready >= s.quorum }

// lost reports whether it is certain that no quorum is well.
func (s *state) lost() bool { return s.voters > 0 && s.ready+s.unseen < s.quorum && !s.bootstraps() }

// mayPredate reports whether a member may have data from before the log of those that answer.
func (m Member) mayPredate() bool { return m.Predates || m.OlderVolume }

// beganAgain reports whether the members with a quorum began without the data that a member has that is not well, or
// may have begun so.
func (s *state) beganAgain() bool { return s.kept() && len(s.predating) > 0 }

func (s *state) allReady() bool { return s.voters > 0 && s.ready == s.voters }

// hibernated reports whether the cluster is scaled to 0. Pods may be left that are about to stop.
func (s *state) hibernated() bool { return s.Desired == 0 }

// left returns the members that still have a pod.
func (s *state) left() []Member {
	return s.where(func(m Member) bool { return m.Pod != PodMissing && m.Pod != PodUnseen })
}

// bootstraps reports whether the cluster was created a moment ago and has had no quorum yet.
func (s *state) bootstraps() bool {
	return !s.Formed && s.ready == 0 && !s.Created.IsZero() && s.At.Before(s.Created.Add(NotReadyGrace))
}

// where returns the members for which a condition is true.
func (s *state) where(is func(Member) bool) []Member {
	var found []Member
	for _, m := range s.Members {
		if is(m) {
			found = append(found, m)
		}
	}
	return found
}

// outOfSync returns the members whose status is not the one that follows from their lease.
func (s *state) outOfSync() []Member {
	return s.where(func(m Member) bool {
		if !s.reports() || m.Status == StatusNone {
			return false
		}
		switch m.Lease {
		case LeaseFresh:
			return m.Status != StatusReady
		case LeaseExpired:
			return m.Status == StatusReady && !m.down() && m.Pod != PodUnready
		case NoLease, LeaseNever:
		}
		return false
	})
}

// longUnknown returns the members whose status has been Unknown for longer than a grace period.
func (s *state) longUnknown() []Member {
	return s.where(func(m Member) bool {
		return s.reports() && m.Status == StatusUnknown && !m.StatusSince.IsZero() && !s.At.Before(m.StatusSince.Add(UnknownGrace))
	})
}

// unreadyPods returns the members whose status is Ready and whose pod is not.
func (s *state) unreadyPods() []Member {
	return s.where(func(m Member) bool {
		return s.reports() && m.Status == StatusReady && (m.down() || m.Pod == PodUnready)
	})
}

// reports reports whether an operator reports the status of the members.
func (s *state) reports() bool { return s.Reporter != "" }

// unconfirmed reports whether that operator gives no status of the members: its conditions are old or
// Unknown.
func (s *state) unconfirmed() bool {
	return s.reports() && (s.Ready.Value() == policy.Unknown || s.AllMembersReady.Value() == policy.Unknown)
}
