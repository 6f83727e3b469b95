// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func waitFor(reason policy.Reason, format string, args ...any) Step {
	return Step{Act: Wait, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func wait(v policy.Verdict) Step { return Step{Act: Wait, Reason: v.Reason, Message: v.Message} }

// setBootstrap updates the bootstrap flags of the StatefulSet's next pods. Before it changes the
// template, it sets the partition, which keeps the ordinals below from from restarting.
func (s ClusterState) setBootstrap(want BootstrapFlags, from int) (Step, bool) {
	if s.InTemplate && !s.OnDelete && s.Partition != from {
		return Step{Act: SetPartition, Number: from}, true
	}
	if !s.Bootstrap.equal(want) {
		return Step{Act: SetBootstrap, Bootstrap: want}, true
	}
	return Step{}, false
}

// setBootstrapOnDelete returns the step that sets the bootstrap flags for any one pod. It sets OnDelete instead of a partition, so
// that no other pod restarts.
func (s ClusterState) setBootstrapOnDelete(want BootstrapFlags) (Step, bool) {
	if s.InTemplate && !s.OnDelete {
		return Step{Act: SetOnDelete}, true
	}
	if !s.Bootstrap.equal(want) {
		return Step{Act: SetBootstrap, Bootstrap: want}, true
	}
	return Step{}, false
}

// restoreBootstrap restores the bootstrap flags from before the operation. The partition keeps the
// ordinals below from from restarting, or OnDelete keeps all.
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

// restoreStrategy restores the update strategy of the StatefulSet when no pod restarts by it. The pods
// differ from the template only in flags that they don't read again. So they first get the label
// of its revision, and the controller must have observed that. If another client has changed the
// template, no pod gets the label, so that the StatefulSet rolls that change out.
func (s ClusterState) restoreStrategy(r Record) Step {
	if s.hasStrategy(r) && (s.Original || !s.InTemplate) {
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
	return s.writeStrategy(r)
}

// hasStrategy reports whether the StatefulSet has the update strategy from before the operation, or gets it when a
// rollout that is held is complete.
func (s ClusterState) hasStrategy(r Record) bool {
	if s.Held && !r.OnDelete {
		return s.AuthorPartition == r.Partition
	}
	return s.OnDelete == r.OnDelete && s.Partition == r.Partition
}

// writeStrategy restores the update strategy, the last step. If pods do not have the newest template, they restart
// by it: that template is another client's, or of a pod that was to be replaced.
func (s ClusterState) writeStrategy(r Record) Step {
	if s.hasStrategy(r) {
		return Step{Act: Done}
	}
	outdated := slices.ContainsFunc(s.Ordinals, func(p Replica) bool { return p.UID != "" && !p.Updated })
	return Step{Act: RestoreStrategy, Releases: s.Held || outdated || !s.AllUpdated}
}

// removeFrom removes what the ordinals at and above from have: replicas, pods and, unless keep is
// true, their claims.
func (s ClusterState) removeFrom(from int, keep bool) (Step, bool) {
	if keep {
		return s.removeBetween(from, 0)
	}
	return s.removeBetween(from, len(s.Ordinals))
}

// removeBetween removes the replicas and pods at and above from, and the claims of those below to.
func (s ClusterState) removeBetween(from, to int) (Step, bool) {
	if s.Replicas > from {
		return s.setReplicas(from), true
	}
	for at := len(s.Ordinals) - 1; at >= from; at-- {
		p := s.Ordinals[at]
		switch {
		case p.UID != "":
			return waitFor(PodGoing, "%s is still there", p.Pod), true
		case len(p.Claims) > 0 && at < to:
			return Step{Act: DeleteClaims, Ordinal: at}, true
		case p.TerminatingClaims > 0:
			return waitFor(PodGoing, "a volume claim of %s is still there", p.Pod), true
		}
	}
	return Step{}, false
}

// raiseReplicas raises the replicas to at least least and to the number that the voters need, if
// another client has lowered them.
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

// bootstrapFor returns the bootstrap flags of a new member at an ordinal or, for -1, those of the
// current members.
func (s ClusterState) bootstrapFor(ordinal int) BootstrapFlags {
	l := BootstrapFlags{Existing: true}
	for _, p := range s.Members {
		l.URLs = append(l.URLs, p.URL)
	}
	if _, there := s.at(ordinal); ordinal >= 0 && !there {
		l.URLs = append(l.URLs, s.Ordinals[ordinal].URL)
	}
	slices.Sort(l.URLs)
	return l
}

func (l BootstrapFlags) equal(m BootstrapFlags) bool {
	return l.Existing == m.Existing && slices.Equal(l.URLs, m.URLs)
}

// size returns the number of voters at the ordinals from 0 up to the first without a voter.
func (s ClusterState) size() int {
	n := 0
	for {
		if p, found := s.at(n); !found || p.Learner {
			return n
		}
		n++
	}
}

// firstVoterFrom returns the first ordinal at or above size that has a voter, -1 for none.
func (s ClusterState) firstVoterFrom(size int) int {
	for at := size; at < len(s.Ordinals); at++ {
		if p, found := s.at(at); found && !p.Learner {
			return at
		}
	}
	return -1
}

// votedOrdinals returns the number of ordinals up to the last that has a voter.
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

func (s ClusterState) at(ordinal int) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.Ordinal == ordinal && ordinal >= 0 })
}

func (s ClusterState) learner() (Peer, bool) {
	return s.find(func(p Peer) bool { return p.Learner })
}

func (s ClusterState) otherDown(id uint64) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.ID != id && !p.Learner && !p.Healthy })
}

// transferee returns a voter that can lead instead of another.
func (s ClusterState) transferee(id uint64) (Peer, bool) {
	return s.find(func(p Peer) bool { return p.ID != id && !p.Learner && p.Healthy })
}

func (s ClusterState) find(what func(Peer) bool) (Peer, bool) {
	if i := slices.IndexFunc(s.Members, what); i >= 0 {
		return s.Members[i], true
	}
	return Peer{}, false
}

// foreignMember returns a step that stops if a member belongs to no pod of the StatefulSet.
func (s ClusterState) foreignMember() (Step, bool) {
	if p, found := s.find(func(p Peer) bool { return p.Ordinal < 0 }); found {
		return stop(atMemberWithoutOrdinal, "member %016x with peer URL %s belongs to no pod of this StatefulSet: if it is dead, remove it with kubectl etcd member remove %s %016x", p.ID, p.URL, cmp.Or(s.TargetArgs, "NAME"), p.ID), true
	}
	return Step{}, false
}

func (s ClusterState) name(p Peer) string {
	if p.Ordinal >= 0 && p.Ordinal < len(s.Ordinals) {
		return s.Ordinals[p.Ordinal].Pod
	}
	return fmt.Sprintf("member %016x", p.ID)
}
