// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// keeping sets how many voters have a replica after the write, and whether that has other ordinals
// than the members.
func (s *Scale) keeping(f *scale.Facts) {
	first, n := s.write.FirstNow, f.Voters
	ordinals := s.ordinals()
	if f.Creates {
		first = s.write.First
		if len(ordinals) > 0 && ordinals[0] < first {
			first = ordinals[0]
		}
	}
	f.First, f.Moved = first, first != s.write.First
	if f.Keeping = min(f.Asked, n); !f.Moved {
		return
	}
	others := 0
	if s.Owner.Spans() {
		// Of the other StatefulSets all replicas stay.
		others = f.Asked - s.write.Asked
		n = s.write.Now
	}
	low, high := max(first, s.write.First), min(first+n, s.write.First+s.write.Asked)
	f.Keeping = min(f.Voters, max(0, high-low)+others)
}

// ordinals returns the ordinals of which a pod or a volume claim exists where a StatefulSet is
// created.
func (s *Scale) ordinals() []int {
	if s.write.Creates == nil {
		return nil
	}
	var out []int
	for _, c := range s.claims {
		out = append(out, c.ordinal)
	}
	for _, pod := range s.live.w.pods {
		out = append(out, owner.OrdinalOf(pod.Name, s.write.Name, 0))
	}
	slices.Sort(out)
	return out
}

// firstOf returns the first ordinal of a StatefulSet.
func firstOf(sts *appsv1.StatefulSet) int {
	if sts.Spec.Ordinals == nil {
		return 0
	}
	return int(sts.Spec.Ordinals.Start)
}
