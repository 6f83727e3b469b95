// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// scaleOut adds one member at a time, at the lowest ordinal without a voter: it sets the bootstrap
// flags, adds the learner and the replica, and promotes the learner. The initial-cluster of a new
// member must be exactly etcd's member list, including itself, or etcd exits.
func scaleOut(s ClusterState, r Record) Step {
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if step, low := s.raiseReplicas(0); low {
		return step
	}
	size := s.size()
	if at := s.firstVoterFrom(size); at >= 0 {
		return stop(atGap, "%s is a member, but the lower %s is not: undo this operation with --abort, then replace the member of that pod", s.Ordinals[at].Pod, s.Ordinals[size].Pod)
	}
	learner, found := s.learner()
	if found && learner.Ordinal != size {
		return stop(atLearner, "member %016x is a learner that this operation has not added: undo this operation with --abort, then promote or remove it", learner.ID)
	}
	switch {
	case size >= r.Target && !found:
		return finishOut(s, r, size)
	case !found:
		return addLearner(s, size)
	}
	return startLearner(s, learner)
}

// addLearner adds a learner for an ordinal after all that a previous member left there is removed.
func addLearner(s ClusterState, ordinal int) Step {
	if step, left := s.removeFrom(ordinal, false); left {
		return step
	}
	if v := MayAdd(s.Members); !v.Allowed {
		return wait(v)
	}
	if step, needed := s.setBootstrap(s.bootstrapFor(ordinal), ordinal); needed {
		return step
	}
	return Step{Act: AddLearner, Ordinal: ordinal}
}

// startLearner starts a learner's pod and promotes the learner after it has caught up.
func startLearner(s ClusterState, learner Peer) Step {
	ordinal := learner.Ordinal
	if !learner.Healthy {
		if step, needed := s.setBootstrap(s.bootstrapFor(ordinal), ordinal); needed {
			return step
		}
	}
	if s.Replicas != ordinal+1 {
		return s.setReplicas(ordinal + 1)
	}
	return promote(s, learner)
}

// promote promotes a learner that has caught up, if the voters have a healthy quorum now, and with
// the learner as a voter.
func promote(s ClusterState, learner Peer) Step {
	switch {
	case !learner.Healthy:
		step := waitFor(policy.CatchingUp, "%s is a learner and does not answer yet", s.Ordinals[learner.Ordinal].Pod)
		step.Ordinal = learner.Ordinal
		return step
	case !learner.CaughtUp:
		return waitFor(policy.CatchingUp, "%s is a learner and has not caught up yet", s.Ordinals[learner.Ordinal].Pod)
	}
	voters, healthy := Votes(s.Members)
	if healthy < policy.Quorum(voters) || healthy+1 < policy.Quorum(voters+1) {
		return waitFor(policy.NoQuorum, "%d of %s healthy, quorum is %d", healthy, policy.Count(voters, "voter"), policy.Quorum(voters))
	}
	return Step{Act: Promote, Ordinal: learner.Ordinal, Member: learner.ID}
}

func finishOut(s ClusterState, r Record, size int) Step {
	if voters, healthy := Votes(s.Members); healthy < voters {
		return waitFor(VoterDown, "%d of %s healthy", healthy, policy.Count(voters, "voter"))
	}
	if step, left := s.removeFrom(size, false); left {
		return step
	}
	return s.finishScaleOut(r, size)
}

// finishScaleOut sets the bootstrap flags to the current members, and restores the strategy.
func (s ClusterState) finishScaleOut(r Record, size int) Step {
	if want := s.bootstrapFor(-1); !s.Bootstrap.equal(want) {
		step, _ := s.setBootstrap(want, size)
		return step
	}
	return s.restoreStrategy(r)
}

// undoOut removes a learner and what was created for it. Members that are voters by then remain,
// also above an ordinal without a voter: their removal is a scale-in. A scale-out adds one member at a
// time, at the ordinal above the voters. So the claims of higher ordinals are of an earlier operation,
// or kept, and remain. So does a learner there.
func undoOut(s ClusterState, r Record) Step {
	if learner, found := s.learner(); found && learner.Ordinal >= r.Replicas && learner.Ordinal <= max(s.Replicas, s.votedOrdinals()) {
		return s.remove(learner)
	}
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if step, low := s.raiseReplicas(0); low {
		return step
	}
	size := max(s.votedOrdinals(), r.Replicas)
	if step, left := s.removeBetween(size, size+1); left {
		return step
	}
	if size > r.Replicas {
		return s.finishScaleOut(r, size)
	}
	if step, needed := s.restoreBootstrap(size); needed {
		return step
	}
	return s.restoreStrategy(r)
}
