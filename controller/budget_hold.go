// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// The reasons of a budget that no policy keeps.
const (
	reasonHeld     = "BudgetHeld"
	reasonReleased = "BudgetReleased"
	reasonRemoved  = "BudgetRemoved"
)

// hold keeps what stands of a cluster whose budget no policy keeps. The budget may only
// become stricter. After the policy's settle time it is released: the author's value is
// restored, unless it is below the quorum, and a budget that this controller created is
// deleted. A tie of policies releases nothing, because nobody decided it.
func (c *cluster) hold(ctx context.Context) error {
	if err := c.removeStrayed(ctx); err != nil {
		return err
	}
	held := c.heldBudget()
	if held == nil {
		return nil
	}
	c.held.swap(c.owner.Key(), struct{}{})
	since := observe.DecodeBudgetRecord(held.Annotations, c.facts.At).ReleaseSince
	switch {
	case c.tie:
		since = time.Time{}
	case since.IsZero():
		since = c.facts.At
	}
	wait := since.Add(c.settings().Settle).Sub(c.facts.At)
	if !c.tie && wait <= 0 {
		return c.release(ctx, held)
	}
	if !c.tie {
		c.releaseWait = wait
	}
	return c.tighten(ctx, held, since)
}

// heldBudget returns the budget that was kept for this cluster until now, nil for none.
func (c *cluster) heldBudget() *policyv1.PodDisruptionBudget {
	if kept := c.facts.Budgets.Kept; kept != nil {
		if kept.Record.For != c.owner.Ref() {
			return nil
		}
		return kept.PodDisruptionBudget
	}
	return c.facts.Budgets.Left
}

// tighten raises the number of a held budget to what the rule asks for, and records since
// when it is held.
func (c *cluster) tighten(ctx context.Context, held *policyv1.PodDisruptionBudget, since time.Time) error {
	if c.facts.Budgets.Kept != nil {
		return c.adjust(ctx, since)
	}
	record := observe.DecodeBudgetRecord(held.Annotations, c.facts.At)
	record.ReleaseSince = since
	patch, err := pdb.Patch(held, nil, record, false)
	if err != nil || patch == nil {
		return err
	}
	return c.patch(ctx, held, patch)
}

// release ends the work on a held budget, and on the others that were created for the
// cluster.
func (c *cluster) release(ctx context.Context, held *policyv1.PodDisruptionBudget) error {
	why := "no policy keeps the cluster's budget: " + c.unkept.Message
	if err := c.removeSurplus(ctx, why); err != nil {
		return err
	}
	if observe.Original(held) {
		return c.deleteWithEvent(ctx, held, why)
	}
	if err := c.restore(ctx, held, pdb.MinAvailable(c.facts), c.facts.Replicas); err != nil {
		return err
	}
	c.record(held, warning, policy.Note{Reason: reasonReleased, Message: fmt.Sprintf(
		"budget %s has its author's value again, or the quorum if that is more: %s", held.Name, c.unkept.Message)}, actionRelease)
	return nil
}

// holdNote returns what users should know of a held budget, nil if none is held.
func (c *cluster) holdNote() *policy.Note {
	held := c.heldBudget()
	if held == nil || c.facts.Cluster.Size <= 1 {
		return nil
	}
	until := "for as long as that lasts"
	if !c.tie {
		until = fmt.Sprintf("for %s, and is then released", c.settings().Settle)
	}
	return &policy.Note{Reason: reasonHeld, Message: fmt.Sprintf("no policy keeps budget %s: %s. It is only tightened %s", held.Name, c.unkept.Message, until)}
}
