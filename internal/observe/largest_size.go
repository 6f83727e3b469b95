// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"maps"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// Remember counts a size that was seen before and is on no budget any more: the budget was
// deleted.
func (f *Facts) Remember(l annotation.LargestSize) {
	if l.N <= f.Largest.N || l.Read != f.Largest.Read || f.Budgets.Largest.N > 0 {
		return
	}
	f.Largest = l
	f.resize()
}

// resize brings the cluster's size up to the largest one.
func (f *Facts) resize() {
	if f.asked == 0 && len(f.Cluster.Members) == 0 {
		return // a hibernated cluster
	}
	have := max(f.asked, len(f.Cluster.Members))
	f.Cluster.Size = max(have+f.elsewhere, f.listed, f.Largest.N)
	f.Cluster.Elsewhere = f.elsewhere
	f.Cluster.Lost = f.Cluster.Size - have - f.elsewhere
}

// elsewhere counts the members that the members list and that no workload of the namespace has. It
// is 0 where an annotation contains the number of voters.
func (o Owner) elsewhere() int {
	if _, known := annotation.ParseSize(o.sizeText()); known {
		return 0
	}
	return o.Elsewhere
}

// listed counts the members that the members list, as elsewhere does: a StatefulSet that was scaled
// to nothing has members in etcd that still count.
func (o Owner) listed() int {
	if _, known := annotation.ParseSize(o.sizeText()); known {
		return 0
	}
	return o.Listed
}

// recordSize counts the largest size that is recorded on a workload's budgets.
func (b *Budgets) recordSize(w *workload, record annotation.BudgetRecord) {
	if w.owner.RefersTo(record.For) && record.Size.N > b.Largest.N {
		b.Largest = record.Size
	}
}

// sizeText is the owner's annotation.
func (o Owner) sizeText() string { return o.Annotations[v1alpha1.SizeAnnotation] }

// HasSize reports whether annotations of an owner contain how many voters etcd has.
func HasSize(annotations map[string]string) bool {
	_, has := annotations[v1alpha1.SizeAnnotation]
	return has
}

// WithSize returns a copy of annotations that contains how many voters etcd has. The time makes
// the same number count again after a larger one.
func WithSize(annotations map[string]string, n int, now time.Time) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[v1alpha1.SizeAnnotation] = fmt.Sprintf("%d at %s", n, now.UTC().Format(time.RFC3339Nano))
	return out
}
