// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

// scaleOut adds one member at a time, the lowest place without a vote first: what
// its pod will read, the learner, the replica, the vote. The list that a newcomer
// reads must be etcd's own to the letter, itself included, or it exits.
func scaleOut(s Site, r Record) Step {
	if step, bad := s.strange(); bad {
		return step
	}
	if step, low := s.lowered(0); low {
		return step
	}
	size := s.size()
	if at := s.beyond(size); at >= 0 {
		return stop(MemberGap, "%s is a member, %s is none: replace that first", s.Seats[at].Pod, s.Seats[size].Pod)
	}
	learner, found := s.learner()
	if found && learner.Place != size {
		return stop(LearnerPresent, "member %016x is a learner that this operation has not added", learner.ID)
	}
	switch {
	case size >= r.Target && !found:
		return finishOut(s, r, size)
	case !found:
		return addAt(s, size)
	}
	return admit(s, learner)
}

// addAt adds a learner for a place once nothing is left there of a member before.
func addAt(s Site, place int) Step {
	if step, left := s.clear(place, false); left {
		return step
	}
	if v := MayAdd(s.Members); !v.Allowed {
		return wait(v)
	}
	if step, needed := s.tell(s.launch(place), place); needed {
		return step
	}
	return Step{Act: AddLearner, Place: place}
}

// admit starts a learner's pod and gives it a vote once it has caught up.
func admit(s Site, learner Peer) Step {
	place := learner.Place
	if !learner.Healthy {
		if step, needed := s.tell(s.launch(place), place); needed {
			return step
		}
	}
	if s.Replicas != place+1 {
		return s.replicas(place + 1)
	}
	return promote(s, learner)
}

// promote gives a learner its vote when it has earned it, and when the voters,
// itself among them, would have a quorum without luck.
func promote(s Site, learner Peer) Step {
	switch {
	case !learner.Healthy:
		step := waitFor(CatchingUp, "%s is a learner and does not answer yet", s.Seats[learner.Place].Pod)
		step.Place = learner.Place
		return step
	case !learner.CaughtUp:
		return waitFor(CatchingUp, "%s is a learner and has not caught up yet", s.Seats[learner.Place].Pod)
	}
	voters, healthy := votes(s.Members)
	if healthy < Quorum(voters) || healthy+1 < Quorum(voters+1) {
		return waitFor(NoQuorum, "%d of %s healthy, quorum is %d", healthy, count1(voters, "voter"), Quorum(voters))
	}
	return Step{Act: Promote, Place: learner.Place, Member: learner.ID}
}

func finishOut(s Site, r Record, size int) Step {
	if voters, healthy := votes(s.Members); healthy < voters {
		return waitFor(VoterDown, "%d of %s healthy", healthy, count1(voters, "voter"))
	}
	if step, left := s.clear(size, false); left {
		return step
	}
	return s.settle(r, size)
}

// settle has every place read what is true now, and the strategy as it was.
func (s Site) settle(r Record, size int) Step {
	if want := s.launch(-1); !s.Launch.equal(want) {
		step, _ := s.tell(want, size)
		return step
	}
	return s.restore(r)
}

// undoOut takes a learner back with all that was made for it. Members that have
// a vote by then stay, above a place without one as well: taking one away is a scale-in,
// not an undoing.
func undoOut(s Site, r Record) Step {
	if learner, found := s.learner(); found && learner.Place >= r.Replicas {
		return s.remove(learner)
	}
	if step, bad := s.strange(); bad {
		return step
	}
	if step, low := s.lowered(0); low {
		return step
	}
	size := max(s.voted(), r.Replicas)
	if step, left := s.clear(size, false); left {
		return step
	}
	if size > r.Replicas {
		return s.settle(r, size)
	}
	if step, needed := s.untell(size); needed {
		return step
	}
	return s.restore(r)
}
