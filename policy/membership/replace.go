// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "slices"

// replace gives an ordinal a new member with empty volumes. It removes the old member from the list,
// sets OnDelete so that only this pod gets the new bootstrap flags, adds a learner, recreates the
// volumes and the pod, and promotes the learner. Then it restores the StatefulSet.
func replace(s ClusterState, r Record) Step {
	m, found := s.at(r.Ordinal)
	if other, there := s.learner(); there && other.Ordinal != r.Ordinal {
		return stop(atLearner, "member %016x is a learner that this operation has not added: undo this operation with --abort, then promote or remove it", other.ID)
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

// asBefore restores the template and the strategy of the StatefulSet after the ordinal has its new
// voter. The voter must not restart by that.
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

// recreatePod recreates the learner's pod with new volumes. It deletes the pod last, after the
// StatefulSet controller has observed the bootstrap flags of the next pod.
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

// undoReplace removes the learner. The old member remains removed, so its ordinal has no member
// until it is replaced again. A new member that votes already remains.
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
	if !s.Observed && !s.hasStrategy(r) {
		return waitFor(NotObserved, "the StatefulSet's controller has not seen the last change yet")
	}
	return s.writeStrategy(r)
}
