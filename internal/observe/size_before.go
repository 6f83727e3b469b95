// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// SizeBefore returns how many voters etcd may have by what is left of members beyond the replicas of a
// StatefulSet. It is of use only if no budget records a size.
//
// The volume claims that are older than the StatefulSet count: it was created again, with fewer replicas. If
// unbudgeted is true, no budget selects the members, and none is about to. One that did may be gone, and with it the
// record. Then all claims count, and the members that the template lists: nothing else shows the voters that a
// scale-in left. A budget without a record is one that was found a moment ago: it is a new one, or its record was
// removed. Its cluster may have been scaled in long before, after its members were removed from etcd. So a claim then
// counts only if the template still lists its member, too.
func (r *Reader) SizeBefore(ctx context.Context, o owner.Owner, unbudgeted bool) (int, error) {
	w, err := r.Workload(ctx, o)
	if err != nil {
		return 0, err
	}
	return r.votersBefore(ctx, &w, unbudgeted)
}

// votersBefore returns the same for a workload that was read. An operator that removes members does so when
// it scales in, and not when its StatefulSet is deleted. What its own object asks for is not read. Where each
// pod removes its member when it stops, no voter is left.
func (r *Reader) votersBefore(ctx context.Context, w *Workload, unbudgeted bool) (int, error) {
	m := w.owner.Membership()
	if w.StatefulSet == nil || w.owner.Spans() || m.RemovesMembers && m.Manager != flavour.ByOperator {
		return 0, nil
	}
	claims, err := r.claimOrdinals(ctx, w)
	if err != nil {
		return 0, err
	}
	if n := w.listed(); unbudgeted && m.RemovesUnlisted && n > 0 {
		return n, nil // its hooks have removed those that the list doesn't have
	}
	if unbudgeted && !m.RemovesMembers {
		return max(w.countClaims(claims, false), w.listed()), nil
	}
	created, listed := w.StatefulSet.CreationTimestamp.Time, 0
	if !m.RemovesMembers {
		listed = w.listed()
	}
	claims = slices.DeleteFunc(claims, func(c claimOrdinal) bool {
		return c.ordinal >= max(w.replicas(), listed) && !c.created.Before(created)
	})
	return w.countClaims(claims, false), nil
}

// listed counts the members that the template of a StatefulSet lists. It is 0 where an annotation contains the number
// of voters.
func (w *Workload) listed() int {
	if _, known := annotation.ParseSize(w.owner.SizeText()); known {
		return 0
	}
	return source.PeersOf(w.StatefulSet).Listed
}

// AddSizeBefore adds to the facts of a cluster what SizeBefore returns, if no budget records a size. created is
// true if a budget is about to be created for a cluster that has none.
func (r *Reader) AddSizeBefore(ctx context.Context, o owner.Owner, f *Facts, created bool) error {
	if f.Budgets.Largest.N > 0 {
		return nil
	}
	none := f.Budgets.Problem != nil && f.Budgets.Problem.Reason == reasons.NoBudget
	n, err := r.SizeBefore(ctx, o, none && !created)
	f.rememberBefore(n)
	return err
}
