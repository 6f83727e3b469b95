// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// sharedSettings returns the settings for a budget that selects members of several clusters: those of the
// cluster that its record names. With the limits of two policies, one cluster would tighten it while the
// other loosens it.
func (c *cluster) sharedSettings(ctx context.Context, o *observe.Other) (budget.Settings, error) {
	for _, sharer := range o.Sharers {
		if c.owner.RefersTo(o.Record.For) || !sharer.RefersTo(o.Record.For) {
			continue
		}
		match, err := topologypolicy.For(ctx, c.Reader, sharer)
		if err != nil {
			return budget.Settings{}, err
		}
		return standingOf(match).settings(), nil
	}
	return c.settings(), nil
}

// handToSharer records another cluster on a budget that no policy keeps for this one any more, if a policy
// keeps it for that one. It stays at its number, and changes by the facts of all its clusters. It reports whether it
// wrote that record.
func (c *cluster) handToSharer(ctx context.Context, o *observe.Other) (handed bool, err error) {
	for _, sharer := range o.Sharers {
		match, err := topologypolicy.For(ctx, c.Reader, sharer)
		if err != nil {
			return false, err
		}
		if Unkept(match) != nil {
			continue
		}
		record := annotation.DecodeBudgetRecord(o.Annotations, c.facts.At)
		record.HandTo(sharer.Ref(), sharer.Continues(record.For))
		record.ReleaseSince = time.Time{}
		patch, err := pdb.Patch(o.PodDisruptionBudget, nil, record, false)
		if err != nil || patch == nil {
			return false, err
		}
		if err := c.patch(ctx, o.PodDisruptionBudget, patch); err != nil {
			return false, err
		}
		c.recordHandOver(o.PodDisruptionBudget, &c.owner, sharer)
		return true, nil
	}
	return false, nil
}
