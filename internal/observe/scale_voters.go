// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
)

// voters returns how many voters etcd has: the largest size that the cluster has had. What an Etcd
// asks for counts once its StatefulSet has that many replicas.
func (w *Workload) voters(f *Facts, now, held int) int {
	n := max(f.Budgets.Largest.Next(w.owner.SizeText(), len(w.Pods), f.At).N, f.listed)
	switch {
	case len(w.Pods) == 0 && n == 0:
		return held
	case len(w.Pods) == 0:
		return n
	case w.etcd == nil:
		return max(n, now+f.elsewhere)
	}
	return max(n, w.replicas())
}

// addReady counts the voters that are ready, those that may be, and those that are and stay: they have
// a replica after the write, and aren't being evicted. It returns the pods of the others that have none.
// A voter may be ready if its member is or its pod is: the pod may have started a moment ago, or only
// the lease may not be renewed. A lease of unconfirmed age counts as fresh, as it does for an eviction:
// those that are surely old show which members are dead. One on a lost node may be ready by what was so before.
func (s *Scale) addReady(f *Facts, of *scale.Facts) (leave []*corev1.Pod) {
	for _, m := range f.Cluster.Members {
		sts, ordinal := s.live.w.ordinalOf(m.Pod)
		if sts == nil || !m.Exists || !m.Ready && !m.PodReady && !m.MayRun || m.Learner || s.beyondVoters(ordinal, of) {
			continue
		}
		of.Ready++
		if !m.Ready {
			of.Unsure++
		}
		switch {
		case s.leftBefore(sts, ordinal):
		case s.leaves(sts, ordinal):
			leave = append(leave, s.live.w.pod(m.Pod))
		case m.Ready && m.PodReady && !s.underEviction(m.Pod):
			of.Staying++
		}
	}
	return leave
}

// beyondVoters reports whether a pod can't be one of the voters, by its ordinal. For a StatefulSet
// that is created, the ordinals of the earlier members are unknown.
func (s *Scale) beyondVoters(ordinal int, of *scale.Facts) bool {
	return !of.Creates && (ordinal < 0 || !s.live.w.owner.Spans() && ordinal >= of.Voters)
}

// leftBefore reports whether a write before this one took the replica of a pod in another StatefulSet.
func (s *Scale) leftBefore(sts *appsv1.StatefulSet, ordinal int) bool {
	return !s.writes(sts) && ordinal >= owner.ReplicasOf(sts)
}

// leaves reports whether this write takes the replica of a pod.
func (s *Scale) leaves(sts *appsv1.StatefulSet, ordinal int) bool {
	at, first := ordinal+owner.FirstOrdinal(sts.Spec.Ordinals), s.write.First
	return s.writes(sts) && (at < first || at >= first+s.write.Asked)
}

// stopping counts the pods that have no replica after the write and have not stopped yet.
func (s *Scale) stopping() (n int) {
	for _, pod := range s.live.w.Pods {
		if sts, ordinal := s.live.w.ordinalOf(pod.Name); sts != nil && s.leaves(sts, ordinal) {
			n++
		}
	}
	return n
}

// firstOrdinal returns the first ordinal of the StatefulSet of a write, and that of the write if there is none.
func (w *Workload) firstOrdinal(s ScaleWrite) int {
	for _, sts := range w.Sets() {
		if !s.Etcd && sts.Name == s.Name {
			return owner.FirstOrdinal(sts.Spec.Ordinals)
		}
	}
	return s.First
}

// writes reports whether the write changes the replicas of a StatefulSet.
func (s *Scale) writes(sts *appsv1.StatefulSet) bool {
	return s.write.Etcd || sts.Name == s.write.Name
}

func (s *Scale) underEviction(pod string) bool {
	return slices.ContainsFunc(s.UnderWay, func(u eviction.UnderWay) bool { return u.Pod == pod })
}

// volumesOf returns what becomes of the data of a workload that is scaled to 0.
func (w *Workload) volumesOf(s ScaleWrite) scale.Volumes {
	sts, claims, whenScaled := w.StatefulSet, len(w.owner.Claims), s.WhenScaled
	for _, other := range w.rest {
		if other.Name == s.Name && !s.Etcd {
			sts, claims = other, len(other.Spec.VolumeClaimTemplates)
		}
	}
	if whenScaled == nil && sts != nil && sts.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		whenScaled = &sts.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled
	}
	switch {
	case claims == 0:
		return scale.NoClaims
	case deletesClaims(whenScaled):
		return scale.Deleted
	}
	return scale.Retained
}

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
	for _, pod := range s.live.w.Pods {
		out = append(out, owner.OrdinalOf(pod.Name, s.write.Name, 0))
	}
	slices.Sort(out)
	return out
}
