// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// hold keeps what stands of a cluster whose budget no policy keeps. The budget may only
// become stricter. After the policy's settle time it is released: the author's value is
// restored, unless it is below the quorum, and a budget that this controller created is
// deleted. A tie of policies releases nothing, because no one decided it.
func (c *cluster) hold(ctx context.Context) error {
	return errors.Join(c.holdOrRelease(ctx), c.removeStrayed(ctx))
}

func (c *cluster) holdOrRelease(ctx context.Context) error {
	held := c.heldBudgets()
	if len(held) == 0 {
		return nil
	}
	c.held.Swap(c.owner.Key(), struct{}{})
	since := c.facts.At
	for _, b := range held {
		at := annotation.DecodeBudgetRecord(b.Annotations, c.facts.At).ReleaseSince
		if !at.IsZero() && at.Before(since) {
			since = at
		}
	}
	if c.tie {
		return c.tighten(ctx, time.Time{})
	}
	wait := since.Add(c.settings().Settle).Sub(c.facts.At)
	if wait <= 0 {
		return c.release(ctx)
	}
	c.waits = append(c.waits, wait)
	return c.tighten(ctx, since)
}

// heldBudgets returns the budgets that were kept or made stricter for this cluster until now.
func (c *cluster) heldBudgets() []*policyv1.PodDisruptionBudget {
	var held []*policyv1.PodDisruptionBudget
	if kept := c.heldManaged(); kept != nil {
		held = append(held, kept.PodDisruptionBudget)
	}
	for _, o := range c.heldOthers() {
		held = append(held, o.PodDisruptionBudget)
	}
	return append(held, c.facts.Budgets.Duplicates...)
}

// heldManaged returns the budget that protected the cluster until now, nil for none.
func (c *cluster) heldManaged() *observe.Budget {
	if kept := c.facts.Budgets.Managed; kept != nil && c.owner.RefersTo(kept.Record.For) {
		return kept
	}
	return nil
}

// heldOthers returns the budgets that were made stricter for this cluster until now.
func (c *cluster) heldOthers() []*observe.Other {
	var held []*observe.Other
	for i := range c.facts.Budgets.Others {
		if o := &c.facts.Budgets.Others[i]; c.owner.RefersTo(o.Record.For) {
			held = append(held, o)
		}
	}
	return held
}

// tighten raises the numbers of the held budgets to what the rule asks for, and records
// since when they are held.
func (c *cluster) tighten(ctx context.Context, since time.Time) error {
	var errs []error
	if c.heldManaged() != nil {
		errs = append(errs, c.adjust(ctx, since), c.reselect(ctx))
	}
	for _, o := range c.heldOthers() {
		switch {
		case c.wroteEnough():
			return errors.Join(errs...)
		case o.Unreadable:
			errs = append(errs, c.markHeld(ctx, o.PodDisruptionBudget, since))
		default:
			errs = append(errs, c.adjustOther(ctx, o, since))
		}
	}
	for _, ours := range c.facts.Budgets.Duplicates {
		if c.wroteEnough() {
			break
		}
		errs = append(errs, c.markHeld(ctx, ours, since), c.reselectHeld(ctx, ours))
	}
	return errors.Join(errs...)
}

// markHeld records since when a budget is held whose number can't or needn't be changed: the
// members of one that isn't needed have another, and their evictions fail meanwhile.
func (c *cluster) markHeld(ctx context.Context, held *policyv1.PodDisruptionBudget, since time.Time) error {
	record := annotation.DecodeBudgetRecord(held.Annotations, c.facts.At)
	record.ReleaseSince = since
	patch, err := pdb.Patch(held, nil, record, false)
	if err != nil || patch == nil {
		return err
	}
	return c.patch(ctx, held, patch)
}

// keepAgain records that the budgets are not held any more, since a policy keeps them again. Whatever else is written
// of a budget records it, too, but nothing may be due, or nothing may be written for a while. The next hold would
// otherwise count from the beginning of this one.
func (c *cluster) keepAgain(ctx context.Context) error {
	var errs []error
	for _, b := range c.heldBudgets() {
		if slices.Contains(c.written, b.UID) || annotation.DecodeBudgetRecord(b.Annotations, c.facts.At).ReleaseSince.IsZero() {
			continue
		}
		if c.wroteEnough() {
			break
		}
		errs = append(errs, c.markHeld(ctx, b, time.Time{}))
	}
	return errors.Join(errs...)
}

// release ends the work on the held budgets, and on those that were created for the cluster.
func (c *cluster) release(ctx context.Context) error {
	errs := []error{c.removeSurplus(ctx, c.whyReleased())}
	if kept := c.heldManaged(); kept != nil {
		least := pdb.MinAvailable(c.facts)
		if c.noEtcd {
			least = 0
		}
		errs = append(errs, c.releaseBudget(ctx, kept.PodDisruptionBudget, least, max(c.facts.Replicas, c.facts.Cluster.Hibernated)))
	}
	for _, o := range c.heldOthers() {
		if c.wroteEnough() {
			break
		}
		errs = append(errs, c.releaseOther(ctx, o))
	}
	return errors.Join(errs...)
}

// releaseOther ends the work on a budget that can't protect the cluster alone.
func (c *cluster) releaseOther(ctx context.Context, o *observe.Other) error {
	handed, err := c.handToSharer(ctx, o)
	if err != nil || handed {
		return err
	}
	facts, err := c.reader.SharedFacts(ctx, c.facts, o, nil)
	if err != nil {
		return err
	}
	if c.noEtcd {
		facts.Shares = facts.Shares[1:] // its own
	}
	return c.releaseBudget(ctx, o.PodDisruptionBudget, budget.LeastShared(facts), o.Expected)
}

func (c *cluster) whyReleased() string {
	return "no policy keeps the cluster's budget: " + c.unkept.Message
}

func (c *cluster) releaseBudget(ctx context.Context, held *policyv1.PodDisruptionBudget, least, replicas int) error {
	if observe.NotCopied(held) {
		return c.deleteWithEvent(ctx, held, c.whyReleased())
	}
	if _, err := c.restore(ctx, held, least, replicas); err != nil {
		return err
	}
	c.record(held, warning, policy.Note{Reason: reasons.BudgetReleased, Message: fmt.Sprintf(
		"budget %s has its author's value again%s: %s", held.Name, c.orQuorum(), c.unkept.Message)}, actionRelease)
	return nil
}

func (c *cluster) orQuorum() string {
	if c.noEtcd {
		return ""
	}
	return ", or the quorum if that is more"
}

// holdNote returns what users should know of a held budget, nil if none is held.
func (c *cluster) holdNote() *policy.Note {
	held := c.heldBudgets()
	if len(held) == 0 || c.facts.Cluster.Single() {
		return nil
	}
	until := "for as long as that lasts"
	if !c.tie {
		until = fmt.Sprintf("for %s, and is then released", policy.Duration(c.settings().Settle))
	}
	return &policy.Note{Reason: reasons.BudgetHeld, Message: fmt.Sprintf("no policy keeps budget %s: %s. It is only tightened %s", held[0].Name, c.unkept.Message, until)}
}
