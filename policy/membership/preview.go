// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "slices"

// mostPreviewed is above the number of steps of any operation on the largest cluster.
const mostPreviewed = 500

// Preview returns the steps of an operation from a state if all goes well: each write succeeds, each pod starts, and each
// member is healthy and catches up. They are the steps that Next returns on the way, without its waits and without a transfer of
// leadership, which another election may make needless. ends is false if the operation waits or stops before it is done.
func Preview(s ClusterState, r Record) (steps []Step, ends bool) {
	s = s.allWell()
	for range mostPreviewed {
		step := Next(s, r)
		if step.Act == Done || step.Act == Stop || step.Act == Wait {
			return steps, step.Act == Done
		}
		if step.Act != MoveLeader {
			steps = append(steps, step)
		}
		s = s.after(step, r)
	}
	return steps, false
}

// allWell returns a copy of the state in which nothing is awaited.
func (s ClusterState) allWell() ClusterState {
	s.Members, s.Ordinals, s.Observed = slices.Clone(s.Members), slices.Clone(s.Ordinals), true
	for i := range s.Members {
		s.Members[i].Healthy, s.Members[i].CaughtUp = true, true
	}
	for i := range s.Ordinals {
		s.Ordinals[i].Terminating, s.Ordinals[i].TerminatingClaims = false, 0
	}
	return s.counted()
}

// counted has the controller count the pods that are updated.
func (s ClusterState) counted() ClusterState {
	s.AllUpdated = !slices.ContainsFunc(s.Ordinals, func(p Replica) bool { return p.UID != "" && !p.Updated })
	return s
}

// after returns the state after a write of Preview and what follows from it.
func (s ClusterState) after(step Step, r Record) ClusterState {
	s.Members, s.Ordinals = slices.Clone(s.Members), slices.Clone(s.Ordinals)
	switch step.Act { //nolint:exhaustive // the others write nothing
	case MoveLeader, AddLearner, Promote, RemoveMember:
		s.changeMembers(step, r)
	case SetReplicas, DeleteClaims, DeletePod, AdoptPod:
		s.changePods(step)
	case SetPartition:
		s.Partition = step.Number
	case SetOnDelete:
		s.OnDelete, s.Partition = true, 0
	case SetBootstrap:
		s.Bootstrap, s.Original = step.Bootstrap, false
		s.roll(func(bool) bool { return false })
	case RestoreTemplate: // the pods from before the operation have its revision
		s.Original = true
		s.roll(func(updated bool) bool { return !updated })
	case RestoreStrategy:
		s.OnDelete, s.Partition, s.AuthorPartition = r.OnDelete, r.Partition, r.Partition
	}
	return s.counted()
}

// changeMembers changes etcd's list. A learner is not healthy before its pod starts without data.
func (s *ClusterState) changeMembers(step Step, r Record) {
	at := slices.IndexFunc(s.Members, func(p Peer) bool { return p.ID == step.Member })
	switch step.Act { //nolint:exhaustive // the others change no member
	case AddLearner:
		id := r.Member + 1 // that of a member that was replaced is never used again
		for id == 0 || slices.ContainsFunc(s.Members, func(p Peer) bool { return p.ID == id }) {
			id++
		}
		s.Members = append(s.Members, Peer{ID: id, URL: s.Ordinals[step.Ordinal].URL, Ordinal: step.Ordinal, Learner: true})
	case Promote:
		s.Members[at].Learner = false
	case RemoveMember:
		s.Members = slices.Delete(s.Members, at, at+1)
	case MoveLeader:
		for i := range s.Members {
			s.Members[i].Leader = s.Members[i].ID == step.TransferTo
		}
	}
}

// changePods changes pods and claims. The controller of the StatefulSet creates what is missing.
func (s *ClusterState) changePods(step Step) {
	switch step.Act { //nolint:exhaustive // the others change no pod
	case SetReplicas:
		s.Replicas = step.Number
	case DeleteClaims:
		s.Ordinals[step.Ordinal].Claims = nil
	case DeletePod:
		s.Ordinals[step.Ordinal].UID = ""
	case AdoptPod:
		s.Ordinals[step.Ordinal].Updated = true
	}
	for at := range s.Ordinals {
		p := &s.Ordinals[at]
		switch {
		case at >= s.Replicas:
			p.UID = ""
		case p.UID == "":
			p.UID, p.Updated = "created", true
			s.starts(at)
		}
	}
}

// starts has the member of an ordinal start, and catch up.
func (s *ClusterState) starts(ordinal int) {
	for i := range s.Members {
		if s.Members[i].Ordinal == ordinal {
			s.Members[i].Healthy, s.Members[i].CaughtUp = true, true
		}
	}
}

// roll sets which pods have the new revision of a template.
func (s *ClusterState) roll(updated func(bool) bool) {
	for at := range s.Ordinals {
		if s.InTemplate {
			s.Ordinals[at].Updated = updated(s.Ordinals[at].Updated)
		}
	}
}
