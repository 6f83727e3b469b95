// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func stop(reason policy.Reason, format string, args ...any) Step {
	return Step{Act: Stop, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func waitFor(reason policy.Reason, format string, args ...any) Step {
	return Step{Act: Wait, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func wait(v policy.Verdict) Step { return Step{Act: Wait, Reason: v.Reason, Message: v.Message} }

// setBootstrap has the StatefulSet's next pods read what they must, without a restart of
// those before from: the partition first, then the template.
func (s ClusterState) setBootstrap(want BootstrapFlags, from int) (Step, bool) {
	if s.InTemplate && !s.OnDelete && s.Partition != from {
		return Step{Act: SetPartition, Number: from}, true
	}
	if !s.Bootstrap.equal(want) {
		return Step{Act: SetBootstrap, Bootstrap: want}, true
	}
	return Step{}, false
}

// setBootstrapOnDelete does so for a pod in the middle, which no partition can single out.
func (s ClusterState) setBootstrapOnDelete(want BootstrapFlags) (Step, bool) {
	if s.InTemplate && !s.OnDelete {
		return Step{Act: SetOnDelete}, true
	}
	if !s.Bootstrap.equal(want) {
		return Step{Act: SetBootstrap, Bootstrap: want}, true
	}
	return Step{}, false
}

// restoreBootstrap has the next pods read what they did before us, without a restart of
// any: those before from are kept by the partition, or all by OnDelete.
func (s ClusterState) restoreBootstrap(from int) (Step, bool) {
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

// restoreStrategy gives the StatefulSet its update strategy back when nobody restarts by
// it: all pods differ from the template in nothing that they will read again, are
// marked so, and the controller has seen it. Where somebody else has changed the template,
// that change is theirs to roll out: nobody is marked.
func (s ClusterState) restoreStrategy(r Record) Step {
	if s.OnDelete == r.OnDelete && s.Partition == r.Partition && (s.Original || !s.InTemplate) {
		return Step{Act: Done}
	}
	if s.InTemplate && !s.TemplateEdited {
		if !s.Observed {
			return waitFor(NotObserved, "the StatefulSet's controller has not seen the last change yet")
		}
		for at, p := range s.Ordinals {
			if p.UID != "" && !p.Terminating && !p.Updated {
				return Step{Act: AdoptPod, Ordinal: at}
			}
		}
		if !s.AllUpdated {
			return waitFor(NotObserved, "the StatefulSet's controller does not count every pod as updated yet")
		}
	}
	if s.OnDelete != r.OnDelete || s.Partition != r.Partition {
		return Step{Act: RestoreStrategy}
	}
	return Step{Act: Done}
}

// removeFrom takes away what places from a certain one on still have: replicas, pods,
// and their claims unless they are kept.
func (s ClusterState) removeFrom(from int, keep bool) (Step, bool) {
	if s.Replicas > from {
		return s.setReplicas(from), true
	}
	for at := len(s.Ordinals) - 1; at >= from; at-- {
		p := s.Ordinals[at]
		switch {
		case p.UID != "":
			return waitFor(PodGoing, "%s is still there", p.Pod), true
		case len(p.Claims) > 0 && !keep:
			return Step{Act: DeleteClaims, Ordinal: at}, true
		case p.TerminatingClaims > 0:
			return waitFor(PodGoing, "a volume claim of %s is still there", p.Pod), true
		}
	}
	return Step{}, false
}

// raiseReplicas gives voters their pods back, and a place that is to have one, where somebody
// else has raiseReplicas the replicas below them.
func (s ClusterState) raiseReplicas(least int) (Step, bool) {
	if least = max(least, s.votedOrdinals()); s.Replicas < least {
		return s.setReplicas(least), true
	}
	return Step{}, false
}

func (s ClusterState) setReplicas(n int) Step { return Step{Act: SetReplicas, Number: n} }

func (s ClusterState) remove(p Peer) Step {
	if v := MayRemove(s.Members, p.ID); !v.Allowed {
		return wait(v)
	}
	return Step{Act: RemoveMember, Ordinal: p.Ordinal, Member: p.ID}
}

// bootstrapFor is what a newcomer at a place must read, or, at -1, what is true now.
func (s ClusterState) bootstrapFor(place int) BootstrapFlags {
	l := BootstrapFlags{Existing: true}
	for _, p := range s.Members {
		l.URLs = append(l.URLs, p.URL)
	}
	if _, there := s.at(place); place >= 0 && !there {
		l.URLs = append(l.URLs, s.Ordinals[place].URL)
	}
	slices.Sort(l.URLs)
	return l
}

func (l BootstrapFlags) equal(m BootstrapFlags) bool {
	return l.Existing == m.Existing && slices.Equal(l.URLs, m.URLs)
}

// size is the number of voters at the first places, without a gap.
func (s ClusterState) size() int {
	n := 0
	for {
		if p, found := s.at(n); !found || p.Learner {
			return n
		}
		n++
	}
}

// firstVoterFrom is the first place after size that has a voter, -1 for none.
func (s ClusterState) firstVoterFrom(size int) int {
	for at := size; at < len(s.Ordinals); at++ {
		if p, found := s.at(at); found && !p.Learner {
			return at
		}
	}
	return -1
}

// votedOrdinals is the number of places up to the last that has a voter.
func (s ClusterState) votedOrdinals() int {
	last := -1
	for _, p := range s.Members {
		if !p.Learner {
			last = max(last, p.Ordinal)
		}
	}
	return last + 1
}

func (s ClusterState) highest() int {
	last := -1
	for _, p := range s.Members {
		last = max(last, p.Ordinal)
	}
	return last
}

func (s ClusterState) at(place int) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.Ordinal == place && place >= 0 })
}

func (s ClusterState) learner() (Peer, bool) {
	return s.find(func(p Peer) bool { return p.Learner })
}

func (s ClusterState) otherDown(id uint64) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.ID != id && !p.Learner && !p.Healthy })
}

// transferee is a voter that can lead instead of another.
func (s ClusterState) transferee(id uint64) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.ID != id && !p.Learner && p.Healthy })
}

func (s ClusterState) find(what func(Peer) bool) (Peer, bool) {
	if i := slices.IndexFunc(s.Members, what); i >= 0 {
		return s.Members[i], true
	}
	return Peer{}, false
}

// foreignMember finds a member that no pod of the StatefulSet is.
func (s ClusterState) foreignMember() (Step, bool) {
	if p, found := s.find(func(p Peer) bool { return p.Ordinal < 0 }); found {
		return stop(StrangerMember, "member %016x with peer URL %s belongs to no pod of this StatefulSet", p.ID, p.URL), true
	}
	return Step{}, false
}

func (s ClusterState) name(p Peer) string {
	if p.Ordinal >= 0 && p.Ordinal < len(s.Ordinals) {
		return s.Ordinals[p.Ordinal].Pod
	}
	return fmt.Sprintf("member %016x", p.ID)
}
