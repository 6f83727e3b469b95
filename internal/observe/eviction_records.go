// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
)

// Leaving has the members with an eviction that admission has allowed a moment ago, as the budgets of their cluster
// record them.
type Leaving struct {
	// Budget is the one that the next record is written on, as it was read. All replicas choose the
	// same one. It is nil if no budget selects the members.
	Budget   *policyv1.PodDisruptionBudget
	underWay []eviction.UnderWay
	// kept are the records of Budget that are still of use to any replica, those of other clusters
	// among them.
	kept []annotation.Eviction
	at   time.Time
}

// othersLimit is how long the records of pods that are none of this cluster's are kept. Whether they
// are of use only their cluster knows, by clocks that may differ.
const othersLimit = 10 * time.Minute

// leaving reads the records on the budgets that select members. The first of them by name is the
// one for the next record.
func (r *Reader) leaving(w *workload, budgets []policyv1.PodDisruptionBudget) Leaving {
	l := Leaving{at: r.Leases.Clock.Now()}
	slices.SortFunc(budgets, func(a, b policyv1.PodDisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	for i := range budgets {
		pdb := &budgets[i]
		if w.selects(pdb) == 0 {
			continue
		}
		var kept []annotation.Eviction
		for _, e := range annotation.ParseEvictions(pdb.Annotations[v1alpha1.EvictionsAnnotation]) {
			pod := w.pod(e.Pod)
			if pod == nil {
				// A budget may select the members of several clusters.
				if l.at.Sub(e.At).Abs() < othersLimit {
					kept = append(kept, e)
				}
				continue
			}
			key := w.owner.Namespace + " " + annotation.FormatEvictions([]annotation.Eviction{e})
			age := r.Leases.Since(key, e.At, eviction.Bound)
			if age >= eviction.Bound {
				continue
			}
			// A replica that read the pods a moment ago has this one as healthy.
			kept = append(kept, e)
			// The pod has gone, or is about to: it isn't Ready then, or was created again.
			if pod.UID == e.UID && pod.DeletionTimestamp == nil {
				l.underWay = append(l.underWay, eviction.UnderWay{Pod: e.Pod, Age: age})
			}
		}
		if l.Budget == nil {
			l.Budget, l.kept = pdb, kept
		}
	}
	return l
}

// RecordedFor reports whether a pod has a record that is younger than age.
func (l Leaving) RecordedFor(pod string, age time.Duration) bool {
	return slices.ContainsFunc(l.underWay, func(u eviction.UnderWay) bool { return u.Pod == pod && u.Age < age })
}

// Record returns the annotation of Budget with pods that leave now, and without what is of no use
// any more. The new ones come first, since only so many are read.
func (l Leaving) Record(pods ...*corev1.Pod) string {
	var all []annotation.Eviction
	for _, pod := range pods {
		all = append(all, annotation.Eviction{Pod: pod.Name, UID: pod.UID, At: l.at})
	}
	for _, e := range l.kept {
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == e.Pod && pod.UID == e.UID }) {
			all = append(all, e)
		}
	}
	return annotation.FormatEvictions(all)
}

// removed returns the pods that their StatefulSet has no replica for any more. Its controller deletes
// them next. It returns none of a cluster that stops as a whole.
func (w *workload) removed() []string {
	if w.replicas() == 0 {
		return nil
	}
	var out []string
	for _, pod := range w.pods {
		sts, at := w.ordinalOf(pod.Name)
		if sts != nil && (at < 0 || at >= replicasOf(sts)) {
			out = append(out, pod.Name)
		}
	}
	return out
}

// pod returns the member's pod of a name, nil for none.
func (w *workload) pod(name string) *corev1.Pod {
	for _, p := range w.pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}
