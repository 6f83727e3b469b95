// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// MayLearn reports whether a ready member that nothing names a learner may be one: it has joined the cluster, and has
// been ready for less than settle. A learner is promoted soon after it is ready.
func (m Member) MayLearn(settle time.Duration) bool {
	return m.Joined && !m.Learner && m.Ready && m.PodReady && m.ReadyFor < settle
}

// ReadyNeeded returns how many of so many members must be ready so that the voters among them have a quorum, whichever
// of the ready ones that may be learners vote.
func ReadyNeeded(members, mayLearn int) int {
	return min(Quorum(members-mayLearn)+mayLearn, max(members, Quorum(members)))
}
