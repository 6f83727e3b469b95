// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// OfVolumes returns the members whose data was read from their volumes. The source is the one of the pod that the user chose, or
// else the one with the highest revision.
func OfVolumes(o owner.Owner, read []etcd.Member, chosen string) (Set, error) {
	s := Set{All: read, Chosen: chosen != ""}
	if s.Chosen && !slices.Contains(s.Pods(), chosen) {
		return s, Refuse(o, "%s is chosen with --member, and --from-volume names only %s", chosen, policy.List(s.Pods()))
	}
	for _, m := range read {
		if m.Pod == chosen || !s.Chosen && m.Revision > s.Source.Revision {
			s.Source = m
		}
	}
	return s, nil
}

// Newest returns the highest revision of some members.
func Newest(members []etcd.Member) int64 { return Set{All: members}.Revision() }

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

// FileOfVolume returns the name of a file for the data of a member's volume.
func FileOfVolume(o owner.Owner, pod string, at time.Time) string {
	return fmt.Sprintf("%s-%s-survivor-%s-%s.db", o.Namespace, o.Name, pod, at.UTC().Format("20060102T150405Z")) //nolint:forbidigo // a file name
}
