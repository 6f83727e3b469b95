// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
)

func stop(reason, format string, args ...any) Step {
	return Step{Act: Stop, Reason: reason, Why: fmt.Sprintf(format, args...)}
}

func waitFor(reason, format string, args ...any) Step {
	return Step{Act: Wait, Reason: reason, Why: fmt.Sprintf(format, args...)}
}

func wait(v Verdict) Step { return Step{Act: Wait, Reason: v.Reason, Why: v.Message} }

// tell has the StatefulSet's next pods read what they must, without a restart of
// those before from: the partition first, then the template.
func (s Site) tell(want Launch, from int) (Step, bool) {
	if s.InTemplate && !s.OnDelete && s.Partition != from {
		return Step{Act: SetPartition, Number: from}, true
	}
	if !s.Launch.equal(want) {
		return Step{Act: SetLaunch, Launch: want}, true
	}
	return Step{}, false
}

// tellOne does so for a pod in the middle, which no partition can single out.
func (s Site) tellOne(want Launch) (Step, bool) {
	if s.InTemplate && !s.OnDelete {
		return Step{Act: SetOnDelete}, true
	}
	if !s.Launch.equal(want) {
		return Step{Act: SetLaunch, Launch: want}, true
	}
	return Step{}, false
}

// untell has the next pods read what they did before us, without a restart of
// any: those before from are kept by the partition, or all by OnDelete.
func (s Site) untell(from int) (Step, bool) {
	switch {
	case s.Original:
		return Step{}, false
	case s.InTemplate && !s.OnDelete && from == 0:
		return Step{Act: SetOnDelete}, true
	case s.InTemplate && !s.OnDelete && s.Partition < from:
		return Step{Act: SetPartition, Number: from}, true
	}
	return Step{Act: RestoreTemplate}, true
}

// restore gives the StatefulSet its update strategy back when nobody restarts by
// it: all pods differ from the template in nothing that they will read again, are
// marked so, and the controller has seen it. Where somebody else has changed the template,
// that change is theirs to roll out: nobody is marked.
func (s Site) restore(r Record) Step {
	if s.OnDelete == r.OnDelete && s.Partition == r.Partition && (s.Original || !s.InTemplate) {
		return Step{Act: Done}
	}
	if s.InTemplate && !s.Changed {
		if !s.Observed {
			return waitFor(NotObserved, "the StatefulSet's controller has not seen the last change yet")
		}
		for at, p := range s.Seats {
			if p.UID != "" && !p.Terminating && !p.Current {
				return Step{Act: AdoptPod, Place: at}
			}
		}
		if !s.Settled {
			return waitFor(NotObserved, "the StatefulSet's controller does not count every pod as updated yet")
		}
	}
	if s.OnDelete != r.OnDelete || s.Partition != r.Partition {
		return Step{Act: RestoreStrategy}
	}
	return Step{Act: Done}
}

// clear takes away what places from a certain one on still have: replicas, pods,
// and their claims unless they are kept.
func (s Site) clear(from int, keep bool) (Step, bool) {
	if s.Replicas > from {
		return s.replicas(from), true
	}
	for at := len(s.Seats) - 1; at >= from; at-- {
		p := s.Seats[at]
		switch {
		case p.UID != "":
			return waitFor(PodGoing, "%s is still there", p.Pod), true
		case len(p.Claims) > 0 && !keep:
			return Step{Act: DeleteClaims, Place: at}, true
		case p.Dying > 0:
			return waitFor(PodGoing, "a volume claim of %s is still there", p.Pod), true
		}
	}
	return Step{}, false
}

// lowered gives voters their pods back, and a place that is to have one, where somebody
// else has lowered the replicas below them.
func (s Site) lowered(least int) (Step, bool) {
	if least = max(least, s.voted()); s.Replicas < least {
		return s.replicas(least), true
	}
	return Step{}, false
}

func (s Site) replicas(n int) Step { return Step{Act: SetReplicas, Number: n} }

func (s Site) remove(p Peer) Step {
	if v := MayRemove(s.Members, p.ID); !v.Allowed {
		return wait(v)
	}
	return Step{Act: RemoveMember, Place: p.Place, Member: p.ID}
}

// launch is what a newcomer at a place must read, or, at -1, what is true now.
func (s Site) launch(place int) Launch {
	l := Launch{Existing: true}
	for _, p := range s.Members {
		l.URLs = append(l.URLs, p.URL)
	}
	if _, there := s.at(place); place >= 0 && !there {
		l.URLs = append(l.URLs, s.Seats[place].URL)
	}
	slices.Sort(l.URLs)
	return l
}

func (l Launch) equal(m Launch) bool {
	return l.Existing == m.Existing && slices.Equal(l.URLs, m.URLs)
}

// size is the number of voters at the first places, without a gap.
func (s Site) size() int {
	n := 0
	for {
		if p, found := s.at(n); !found || p.Learner {
			return n
		}
		n++
	}
}

// beyond is the first place after size that has a voter, -1 for none.
func (s Site) beyond(size int) int {
	for at := size; at < len(s.Seats); at++ {
		if p, found := s.at(at); found && !p.Learner {
			return at
		}
	}
	return -1
}

// voted is the number of places up to the last that has a voter.
func (s Site) voted() int {
	last := -1
	for _, p := range s.Members {
		if !p.Learner {
			last = max(last, p.Place)
		}
	}
	return last + 1
}

func (s Site) highest() int {
	last := -1
	for _, p := range s.Members {
		last = max(last, p.Place)
	}
	return last
}

func (s Site) at(place int) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.Place == place && place >= 0 })
}

func (s Site) learner() (Peer, bool) {
	return s.find(func(p Peer) bool { return p.Learner })
}

func (s Site) otherDown(id uint64) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.ID != id && !p.Learner && !p.Healthy })
}

// heir is a voter that can lead instead of another.
func (s Site) heir(id uint64) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.ID != id && !p.Learner && p.Healthy })
}

func (s Site) find(what func(Peer) bool) (Peer, bool) {
	if i := slices.IndexFunc(s.Members, what); i >= 0 {
		return s.Members[i], true
	}
	return Peer{}, false
}

// strange finds a member that no pod of the StatefulSet is.
func (s Site) strange() (Step, bool) {
	if p, found := s.find(func(p Peer) bool { return p.Place < 0 }); found {
		return stop(StrangerMember, "member %016x with peer URL %s is no pod's of this StatefulSet", p.ID, p.URL), true
	}
	return Step{}, false
}

func (s Site) name(p Peer) string {
	if p.Place >= 0 && p.Place < len(s.Seats) {
		return s.Seats[p.Place].Pod
	}
	return fmt.Sprintf("member %016x", p.ID)
}
