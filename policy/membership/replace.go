// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// replace gives a place a new member with empty volumes: the old one out of the
// list, OnDelete so that this pod alone gets what it must read, a learner, new
// volumes, a new pod, the vote; then everything as it was.
func replace(s ClusterState, r Record) Step {
	m, found := s.at(r.Ordinal)
	if other, there := s.learner(); there && other.Ordinal != r.Ordinal {
		return stop(policy.LearnerPresent, "member %016x is a learner that this operation has not added", other.ID)
	}
	if step, bad := s.foreignMember(); bad {
		return step
	}
	if step, low := s.raiseReplicas(r.Ordinal + 1); low {
		return step
	}
	switch {
	case found && m.ID == r.Member:
		return removeVoter(s, m)
	case !found:
		return addReplacement(s, r)
	case m.Learner:
		return recreatePod(s, r, m)
	}
	return s.asBefore(r)
}

// asBefore gives the StatefulSet its template and strategy back once the place
// has its new voter, which must not restart by it.
func (s ClusterState) asBefore(r Record) Step {
	if step, needed := s.restoreBootstrap(0); needed {
		return step
	}
	return s.restoreStrategy(r)
}

func addReplacement(s ClusterState, r Record) Step {
	if v := MayAdd(s.Members); !v.Allowed {
		return wait(v)
	}
	if step, needed := s.setBootstrapOnDelete(s.bootstrapFor(r.Ordinal)); needed {
		return step
	}
	return Step{Act: AddLearner, Ordinal: r.Ordinal}
}

// recreatePod makes the learner's pod anew on new volumes. The pod goes last, when the
// StatefulSet's controller is known to have seen what the next one must read.
func recreatePod(s ClusterState, r Record, learner Peer) Step {
	p := s.Ordinals[r.Ordinal]
	if !learner.Healthy {
		if step, needed := s.setBootstrapOnDelete(s.bootstrapFor(r.Ordinal)); needed {
			return step
		}
		if slices.ContainsFunc(p.Claims, func(uid string) bool { return slices.Contains(r.Claims, uid) }) {
			return Step{Act: DeleteClaims, Ordinal: r.Ordinal}
		}
		if p.UID != "" && !p.Terminating && (p.UID == r.UID || p.TerminatingClaims > 0 || s.InTemplate && s.Observed && !p.Updated) {
			if !s.Observed {
				return waitFor(NotObserved, "the StatefulSet's controller has not seen the last change yet")
			}
			return Step{Act: DeletePod, Ordinal: r.Ordinal}
		}
	}
	if p.UID == "" || p.Terminating || p.TerminatingClaims > 0 {
		return waitFor(PodGoing, "%s and its volumes are being recreated", p.Pod)
	}
	return promote(s, learner)
}

// undoReplace takes the learner back. The member that was removed before stays
// removed: its place is empty until it is replaced again. A new member that votes
// already stays.
func undoReplace(s ClusterState, r Record) Step {
	if m, found := s.at(r.Ordinal); found && m.ID != r.Member {
		if !m.Learner {
			return s.asBefore(r)
		}
		return s.remove(m)
	}
	if step, needed := s.restoreBootstrap(0); needed {
		return step
	}
	if s.OnDelete != r.OnDelete || s.Partition != r.Partition {
		return Step{Act: RestoreStrategy}
	}
	return Step{Act: Done}
}
