// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// mostMembers is more than any cluster has. A size annotation above it is not read.
const mostMembers = 99

// LargestSize is the largest size that a cluster has had, and what its owner's annotation
// said last. The zero LargestSize is not known.
type LargestSize struct {
	N int
	// Read is the text of the owner's annotation that was counted. The same text counts
	// only once: a cluster that grows later has outgrown it.
	Read string
}

// next is the largest size after as many members were seen. text is the owner's annotation.
func (l LargestSize) next(text string, seen int) LargestSize {
	n, ok := ParseSize(text)
	switch {
	case !ok:
		l.Read = ""
	case text != l.Read:
		l.N, l.Read = n, text
	}
	l.N = max(l.N, seen)
	return l
}

// ParseSize reads a size annotation: a number, and anything after a space. False for
// anything else.
func ParseSize(text string) (int, bool) {
	digits, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && n <= mostMembers
}

// Remember counts a size that was seen before and is on no budget any more: the budget was
// deleted.
func (f *Facts) Remember(l LargestSize) {
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
	f.Cluster.Size = max(have, f.Largest.N)
	f.Cluster.Lost = f.Cluster.Size - have
}

// largest is the largest size that is recorded on a workload's budgets.
func (b *Budgets) recordSize(w *workload, record BudgetRecord) {
	if record.For == w.owner.Ref() && record.Size.N > b.Largest.N {
		b.Largest = record.Size
	}
}

// sizeText is the owner's annotation.
func (o Owner) sizeText() string { return o.Annotations[v1alpha1.SizeAnnotation] }
