// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// scaleIn takes the highest member away, one at a time: leadership, membership,
// replica, volumes. Membership goes first, or a dead voter would stay and count.
func scaleIn(s ClusterState, r Record) Step {
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if learner, found := s.learner(); found {
		return stop(policy.LearnerPresent, "member %016x is a learner: wait until it votes, or remove it", learner.ID)
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

// undoIn ends a scale-in where it is. Who has left etcd already loses the replica and the
// volumes, which are of no use to a cluster that has taken the member out; nobody else goes.
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

// removeVoter removes a voter while all the others are well.
func removeVoter(s ClusterState, victim Peer) Step {
	if other, down := s.otherDown(victim.ID); down {
		return waitFor(VoterDown, "%s is not healthy, so no other member is removed", s.name(other))
	}
	if v := MayRemove(s.Members, victim.ID); !v.Allowed {
		return wait(v)
	}
	if victim.Leader {
		if heir, ok := s.transferee(victim.ID); ok {
			return Step{Act: MoveLeader, Ordinal: victim.Ordinal, Member: victim.ID, TransferTo: heir.ID}
		}
	}
	return s.remove(victim)
}
