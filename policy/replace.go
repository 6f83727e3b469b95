// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// replace gives a place a new member with empty volumes: the old one out of the
// list, OnDelete so that this pod alone gets what it must read, a learner, new
// volumes, a new pod, the vote; then everything as it was.
func replace(s Site, r Record) Step {
	m, found := s.at(r.Place)
	if other, there := s.learner(); there && other.Place != r.Place {
		return stop(LearnerPresent, "member %016x is a learner that this operation has not added", other.ID)
	}
	if step, bad := s.strange(); bad {
		return step
	}
	if step, low := s.lowered(r.Place + 1); low {
		return step
	}
	switch {
	case found && m.ID == r.Member:
		return takeAway(s, m)
	case !found:
		return addAgain(s, r)
	case m.Learner:
		return renew(s, r, m)
	}
	return s.asBefore(r)
}

// asBefore gives the StatefulSet its template and strategy back once the place
// has its new voter, which must not restart by it.
func (s Site) asBefore(r Record) Step {
	if step, needed := s.untell(0); needed {
		return step
	}
	return s.restore(r)
}

func addAgain(s Site, r Record) Step {
	if v := MayAdd(s.Members); !v.Allowed {
		return wait(v)
	}
	if step, needed := s.tellOne(s.launch(r.Place)); needed {
		return step
	}
	return Step{Act: AddLearner, Place: r.Place}
}

// renew makes the learner's pod anew on new volumes. The pod goes last, when the
// StatefulSet's controller is known to have seen what the next one must read.
func renew(s Site, r Record, learner Peer) Step {
	p := s.Seats[r.Place]
	if !learner.Healthy {
		if step, needed := s.tellOne(s.launch(r.Place)); needed {
			return step
		}
		if slices.ContainsFunc(p.Claims, func(uid string) bool { return slices.Contains(r.Claims, uid) }) {
			return Step{Act: DeleteClaims, Place: r.Place}
		}
		if p.UID != "" && !p.Terminating && (p.UID == r.UID || p.Dying > 0 || s.InTemplate && s.Observed && !p.Current) {
			if !s.Observed {
				return waitFor(NotObserved, "the StatefulSet's controller has not seen the last change yet")
			}
			return Step{Act: DeletePod, Place: r.Place}
		}
	}
	if p.UID == "" || p.Terminating || p.Dying > 0 {
		return waitFor(PodGoing, "%s and its volumes are being made anew", p.Pod)
	}
	return promote(s, learner)
}

// undoReplace takes the learner back. The member that was removed before stays
// removed: its place is empty until it is replaced again. A new member that votes
// already stays.
func undoReplace(s Site, r Record) Step {
	if m, found := s.at(r.Place); found && m.ID != r.Member {
		if !m.Learner {
			return s.asBefore(r)
		}
		return s.remove(m)
	}
	if step, needed := s.untell(0); needed {
		return step
	}
	if s.OnDelete != r.OnDelete || s.Partition != r.Partition {
		return Step{Act: RestoreStrategy}
	}
	return Step{Act: Done}
}
