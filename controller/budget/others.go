// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// adjustOthers makes the budgets stricter that select members and can't protect the cluster
// alone. What it made stricter becomes looser again with the facts, down to what the author
// wrote; then the record goes. Without a record and a reason, it doesn't write them.
func (c *cluster) adjustOthers(ctx context.Context) error {
	for i := range c.facts.Budgets.Others {
		o := &c.facts.Budgets.Others[i]
		if o.Unreadable {
			continue
		}
		if err := c.adjustOther(ctx, o, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// adjustOther sets the number and the record of one of them. since is since when no policy
// keeps it, zero while one does.
//
// Several clusters may share it. Each of them records there what it finds, and each write wakes the others,
// so they must find the same, or they write for ever. What depends on the one that is reconciled is recorded by
// the one that the record names.
func (c *cluster) adjustOther(ctx context.Context, o *observe.Other, since time.Time) error {
	v, record, err := c.dueOfOther(ctx, o)
	if err != nil {
		return err
	}
	c.waits = append(c.waits, v.Recheck)
	due := o.Value.WithMin(v.MinAvailable, o.Expected)
	switch {
	case !c.kept() && len(o.Sharers) > 0 && due.Min(o.Expected) <= o.Value.Min(o.Expected):
		// What becomes looser, and when, is recorded by the others, if policies keep theirs.
		return c.markHeld(ctx, o.PodDisruptionBudget, since)
	case record.Value == nil && due.Min(o.Expected) <= o.Value.Min(o.Expected):
		return nil
	case c.kept() && !observe.Ours(o.PodDisruptionBudget) && record.Original != nil && due.Min(o.Expected) <= record.Original.Min(o.Expected):
		return c.restore(ctx, o.PodDisruptionBudget, v.MinAvailable, o.Expected)
	}
	record.Value, record.State = &due, v.State
	if record.For == "" || c.owner.RefersTo(record.For) {
		record.For, record.Size, record.ReleaseSince = c.owner.Ref(), c.facts.Largest, since
	}
	_, err = c.write(ctx, &o.Budget, o.Expected, v, record, normal)
	return err
}

// dueOfOther evaluates the rule for such a budget, and returns its record with what its
// author wrote.
func (c *cluster) dueOfOther(ctx context.Context, o *observe.Other) (budget.Result, annotation.BudgetRecord, error) {
	facts, err := c.Reader.SharedFacts(ctx, c.facts, o, nil)
	if err != nil {
		return budget.Result{}, annotation.BudgetRecord{}, err
	}
	record, _ := recordOf(&o.Budget, o.Expected)
	if facts.Unconfirmed {
		c.waits = append(c.waits, unconfirmedWait)
	}
	facts.Hold = !c.kept() || observe.Ours(o.PodDisruptionBudget)
	if record.Original != nil {
		facts.Floor = record.Original.Min(o.Expected)
	}
	settings, err := c.sharedSettings(ctx, o)
	if err != nil {
		return budget.Result{}, annotation.BudgetRecord{}, err
	}
	return budget.EvaluateShared(facts, settings), record, nil
}
