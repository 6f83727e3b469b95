// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// OfVolumes returns the members that answer together with those whose data was read from their volumes. The source is the one of
// the pod that the user chose, or else the one with the highest revision: one that answers, if it has as much as a volume. Data of
// several etcd clusters, and data that is known to be corrupt, is only taken if the user chooses it.
func OfVolumes(o owner.Owner, read []etcd.Member, answering Set, chosen string) (Set, error) {
	s := Set{All: slices.Concat(answering.All, read), Source: answering.Source, Chosen: chosen != ""}
	for _, m := range read {
		if m.Pod == chosen || !s.Chosen && (s.Source.Pod == "" || m.Revision > s.Source.Revision) {
			s.Source = m
		}
	}
	for _, m := range s.All {
		switch {
		case s.Chosen && m.Pod != chosen:
		case slices.Contains(m.Alarms, "CORRUPT"):
			return s, Refuse(o, "the data of %s is known to be corrupt; restore a backup, or choose another member with --member POD", m.Pod)
		case m.ClusterID != s.Source.ClusterID:
			return s, Refuse(o, "the data of %s is of etcd cluster %s, and that of %s of etcd cluster %s; choose one with --member POD, after you have compared the files",
				m.Pod, etcd.HexID(m.ClusterID), s.Source.Pod, etcd.HexID(s.Source.ClusterID))
		}
	}
	return s, nil
}

// SameRead returns an error if the data of a member is to be read from its volume, and an unfinished recovery began without that.
func SameRead(o owner.Owner, began, volumes []string) error {
	for _, pod := range volumes {
		if !slices.Contains(began, pod) {
			return Refuse(o, "the unfinished restore began without --from-volume %s, and can't change: leave out --from-volume to continue it", pod)
		}
	}
	return nil
}

// Volumes describes what was read, for a plan.
func Volumes(read []etcd.Member) []string {
	var facts []string
	for _, m := range read {
		facts = append(facts, fmt.Sprintf("%s doesn't answer, and its volume has revision %d", m.Pod, m.Revision))
	}
	if len(read) > 1 {
		facts = append(facts, "it is not known whether these volumes have the same data")
	}
	return facts
}
