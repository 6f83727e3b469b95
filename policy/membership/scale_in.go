// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

// scaleIn removes the highest member, one at a time: it moves the leadership, removes the member,
// then the replica and the volumes. The member is removed before the replica, because otherwise a
// dead voter would remain and count.
func scaleIn(s ClusterState, r Record) Step {
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if learner, found := s.learner(); found {
		return stop(atLearner, "member %016x is a learner: wait until it votes, or undo this operation with --abort, then remove it", learner.ID)
	}
	if step, low := s.raiseReplicas(0); low {
		return step
	}
	last := s.highest()
	if step, left := s.removeFrom(max(last+1, r.Target), r.KeepClaims); left {
		return step
	}
	if last < r.Target {
		return Step{Act: Done}
	}
	victim, _ := s.at(last)
	return removeVoter(s, victim)
}

// undoIn ends a scale-in at its current state. A member that was removed from etcd already loses its
// replica and volumes, which are of no use without it. No other member is removed.
func undoIn(s ClusterState, r Record) Step {
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if step, low := s.raiseReplicas(0); low {
		return step
	}
	if step, left := s.removeFrom(max(s.highest()+1, r.Target), r.KeepClaims); left {
		return step
	}
	return Step{Act: Done}
}

// removeVoter removes a voter if all other voters are healthy.
func removeVoter(s ClusterState, victim Peer) Step {
	if other, down := s.otherDown(victim.ID); down {
		return waitFor(VoterDown, "%s is not healthy, so no other member is removed", s.name(other))
	}
	if v := MayRemove(s.Members, victim.ID); !v.Allowed {
		return wait(v)
	}
	if victim.Leader {
		if successor, ok := s.transferee(victim.ID); ok {
			return Step{Act: MoveLeader, Ordinal: victim.Ordinal, Member: victim.ID, TransferTo: successor.ID}
		}
	}
	return s.remove(victim)
}
