// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"time"
)

// condition is how a member is, by the best evidence there is.
type condition int

const (
	// unseen means that nothing shows how it is.
	unseen condition = iota
	well
	// silent means that it gives no sign of life, and nothing shows that it has stopped.
	silent
	notReady
	// learning is a learner, and outside a pod whose etcd is in no member list.
	learning
	outside
)

// conditionOf returns how a member is. Its own answer is better evidence than objects are, and the
// pod that has stopped better evidence than a lease that is not old yet.
func conditionOf(m Member) condition {
	switch {
	case m.Listed == NotListed:
		return outside
	case m.Listed == Learner:
		return learning
	case m.Answer == Follows:
		return well
	case m.Answer == NoLeader:
		return notReady
	case m.Answer == Silent && (m.Pod == PodReady || m.Pod == PodUnseen):
		return silent
	case m.Answer == Silent:
		return notReady
	// A pod is Ready also while etcd hangs, if its probe doesn't ask etcd. A member renews its lease.
	case m.Answer == Unreachable && m.Lease != LeaseFresh && (m.Pod == PodReady || m.Pod == PodUnseen):
		return unseen
	}
	return byObjects(m)
}

// byObjects returns the condition of a member that could not be asked.
func byObjects(m Member) condition {
	switch {
	case m.Pod == PodUnseen && m.Lease == NoLease, m.Pod == PodUnseen && m.Lease == LeaseNever:
		return unseen
	case m.Pod != PodUnseen && m.Pod != PodReady:
		return notReady
	case m.Lease == LeaseExpired, m.Lease == LeaseNever:
		return silent
	}
	return well
}

// counts reports whether a member counts for the quorum.
func (f Facts) counts(m Member) bool {
	if f.ListKnown {
		return m.Listed == Voter
	}
	return m.Listed != Learner && m.Listed != NotListed && (m.Asked || m.Pod != PodMissing && m.Pod != PodUnseen || m.Answer != NotAsked)
}

// grace returns until when a member that is not well has to come back by itself, and whether that
// time is over. It is over if no object shows when it began: a wait would never end then.
func (f Facts) grace(m Member) (until time.Time, over bool) {
	if m.Since.IsZero() {
		return time.Time{}, true
	}
	limit := NotReadyGrace
	if conditionOf(m) == silent {
		limit += UnknownGrace
	}
	until = m.Since.Add(limit)
	return until, !f.At.Before(until)
}

// Answers reports whether etcd of a member has answered.
func (m Member) Answers() bool { return m.Answer == NoLeader || m.Answer == Follows }

// lost reports whether a member's data is known to be lost.
func (m Member) lost() bool { return m.Data == DataNone || m.Data == DataDamaged }

// down reports whether the cause of a member's state is that its pod doesn't run.
func (m Member) down() bool {
	return m.Pod == PodMissing || m.Pod == PodPending || m.Pod == PodWaiting || m.Pod == PodStopping
}
