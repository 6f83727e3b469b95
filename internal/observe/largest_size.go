// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// largest returns the largest size that the cluster has had, after the one that was recorded.
func (f *Facts) largest(recorded annotation.LargestSize) annotation.LargestSize {
	l := recorded.Next(f.sizeText, len(f.Cluster.Members), f.At)
	if f.neverGrew {
		l.From = 0
	}
	return l
}

// Remember uses what a reader knew before of the largest size, if no budget records it.
func (f *Facts) Remember(l annotation.LargestSize) {
	if f.Budgets.Largest.N > 0 {
		return
	}
	f.Largest = f.largest(l)
	f.resize()
}

// rememberBefore uses what SizeBefore returns.
func (f *Facts) rememberBefore(n int) {
	f.Largest.N = max(f.Largest.N, n)
	f.resize()
	if f.Cluster.SizeUnknown == "" {
		f.Notes = slices.DeleteFunc(f.Notes, func(n policy.Note) bool { return n.Reason == policy.SizeUnknown })
	}
}

// resize brings the cluster's size up to the largest one. Of several members, the budget keeps a
// majority, whichever others there are.
func (f *Facts) resize() {
	if f.asked == 0 && len(f.Cluster.Members) == 0 {
		f.Cluster.Hibernated = f.Largest.N
		return
	}
	have := max(f.asked, len(f.Cluster.Members))
	f.Cluster.Size = max(have+f.elsewhere, f.listed, f.Largest.N)
	f.Cluster.Elsewhere = f.elsewhere
	f.Cluster.Lost = f.Cluster.Size - have - f.elsewhere
	f.addGrown()
	f.Cluster.SizeUnknown = ""
	if f.Cluster.Size <= 1 {
		f.Cluster.SizeUnknown = f.peersUnknown
	}
}

// recordSize counts the largest size that is recorded on a budget. A user who may create budgets can write such a record on
// one that this project never wrote, so it counts only with the value that stands beside it, and on a budget that selects
// members.
func (b *Budgets) recordSize(w *Workload, pdb *policyv1.PodDisruptionBudget, now time.Time) {
	record := annotation.DecodeBudgetRecord(pdb.Annotations, now)
	if w.owner.RefersTo(record.For) && record.Value != nil && record.Size.N > b.Largest.N && (w.selects(pdb) > 0 || w.reselected(pdb)) {
		b.Largest = record.Size
	}
}
