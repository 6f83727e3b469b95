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
		if o.Unreadable || o.DeletionTimestamp != nil {
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
func (c *cluster) adjustOther(ctx context.Context, o *observe.Other, since time.Time) error {
	v, record, err := c.dueOfOther(ctx, o)
	if err != nil {
		return err
	}
	c.waits = append(c.waits, v.Recheck)
	due := o.Value.WithMin(v.MinAvailable, o.Expected)
	loosens := due.Min(o.Expected) < o.Value.Min(o.Expected)
	switch {
	case loosens && !c.facts.Confirmed:
		return nil
	case record.Value == nil && due.Min(o.Expected) <= o.Value.Min(o.Expected):
		return nil
	case c.kept() && !observe.Ours(o.PodDisruptionBudget) && record.Original != nil && due.Min(o.Expected) <= record.Original.Min(o.Expected):
		return c.restore(ctx, o.PodDisruptionBudget, v.MinAvailable, o.Expected)
	}
	record.Value, record.State, record.ReleaseSince = &due, v.State, since
	if record.For == "" || c.owner.RefersTo(record.For) {
		record.For, record.Size = c.owner.Ref(), c.facts.Largest
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
	facts.Hold = !c.kept() || observe.Ours(o.PodDisruptionBudget)
	if record.Original != nil {
		facts.Floor = record.Original.Min(o.Expected)
	}
	if kept := c.facts.Budgets.Managed; kept != nil {
		// The times of the cluster run on the budget that protects it.
		state := facts.State.LooserSince
		facts.State = kept.Record.State
		facts.State.LooserSince = state
	}
	return budget.EvaluateShared(facts, c.settings()), record, nil
}
