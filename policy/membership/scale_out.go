// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/format"
)

// scaleOut adds one member at a time, the lowest place without a vote first: what
// its pod will read, the learner, the replica, the vote. The list that a newcomer
// reads must be etcd's own to the letter, itself included, or it exits.
func scaleOut(s ClusterState, r Record) Step {
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if step, low := s.raiseReplicas(0); low {
		return step
	}
	size := s.size()
	if at := s.firstVoterFrom(size); at >= 0 {
		return stop(MemberGap, "%s is a member, but the lower %s is not: replace the member of that pod first", s.Ordinals[at].Pod, s.Ordinals[size].Pod)
	}
	learner, found := s.learner()
	if found && learner.Ordinal != size {
		return stop(policy.LearnerPresent, "member %016x is a learner that this operation has not added", learner.ID)
	}
	switch {
	case size >= r.Target && !found:
		return finishOut(s, r, size)
	case !found:
		return addLearner(s, size)
	}
	return startLearner(s, learner)
}

// addLearner adds a learner for a place once nothing is left there of a member before.
func addLearner(s ClusterState, place int) Step {
	if step, left := s.removeFrom(place, false); left {
		return step
	}
	if v := MayAdd(s.Members); !v.Allowed {
		return wait(v)
	}
	if step, needed := s.setBootstrap(s.bootstrapFor(place), place); needed {
		return step
	}
	return Step{Act: AddLearner, Ordinal: place}
}

// startLearner starts a learner's pod and gives it a vote once it has caught up.
func startLearner(s ClusterState, learner Peer) Step {
	place := learner.Ordinal
	if !learner.Healthy {
		if step, needed := s.setBootstrap(s.bootstrapFor(place), place); needed {
			return step
		}
	}
	if s.Replicas != place+1 {
		return s.setReplicas(place + 1)
	}
	return promote(s, learner)
}

// promote gives a learner its vote when it has earned it, and when the voters,
// itself among them, would have a quorum without luck.
func promote(s ClusterState, learner Peer) Step {
	switch {
	case !learner.Healthy:
		step := waitFor(policy.CatchingUp, "%s is a learner and does not answer yet", s.Ordinals[learner.Ordinal].Pod)
		step.Ordinal = learner.Ordinal
		return step
	case !learner.CaughtUp:
		return waitFor(policy.CatchingUp, "%s is a learner and has not caught up yet", s.Ordinals[learner.Ordinal].Pod)
	}
	voters, healthy := votes(s.Members)
	if healthy < policy.Quorum(voters) || healthy+1 < policy.Quorum(voters+1) {
		return waitFor(policy.NoQuorum, "%d of %s healthy, quorum is %d", healthy, format.Count(voters, "voter"), policy.Quorum(voters))
	}
	return Step{Act: Promote, Ordinal: learner.Ordinal, Member: learner.ID}
}

func finishOut(s ClusterState, r Record, size int) Step {
	if voters, healthy := votes(s.Members); healthy < voters {
		return waitFor(VoterDown, "%d of %s healthy", healthy, format.Count(voters, "voter"))
	}
	if step, left := s.removeFrom(size, false); left {
		return step
	}
	return s.settle(r, size)
}

// settle has every place read what is true now, and the strategy as it was.
func (s ClusterState) settle(r Record, size int) Step {
	if want := s.bootstrapFor(-1); !s.Bootstrap.equal(want) {
		step, _ := s.setBootstrap(want, size)
		return step
	}
	return s.restoreStrategy(r)
}

// undoOut takes a learner back with all that was made for it. Members that have
// a vote by then stay, above a place without one as well: taking one away is a scale-in,
// not an undoing.
func undoOut(s ClusterState, r Record) Step {
	if learner, found := s.learner(); found && learner.Ordinal >= r.Replicas {
		return s.remove(learner)
	}
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if step, low := s.raiseReplicas(0); low {
		return step
	}
	size := max(s.votedOrdinals(), r.Replicas)
	if step, left := s.removeFrom(size, false); left {
		return step
	}
	if size > r.Replicas {
		return s.settle(r, size)
	}
	if step, needed := s.restoreBootstrap(size); needed {
		return step
	}
	return s.restoreStrategy(r)
}
