// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// adjustOthers makes the budgets stricter that select members and can't protect the cluster
// alone. What it made stricter becomes looser again with the facts, down to what the author
// wrote; then the record goes. Without a record and a reason, it doesn't write them.
func (c *cluster) adjustOthers(ctx context.Context) error {
	var errs []error
	for i := range c.facts.Budgets.Others {
		o := &c.facts.Budgets.Others[i]
		if o.Unreadable {
			continue
		}
		if c.wroteEnough() {
			break
		}
		errs = append(errs, c.adjustOther(ctx, o, time.Time{}))
	}
	return errors.Join(errs...)
}

// adjustOther sets the number and the record of one of them. since is since when no policy
// keeps it, zero while one does.
//
// Several clusters may share it. Each of them records there what it finds, and each write wakes the others,
// so they must find the same, or they write for ever. What depends on the one that is reconciled is recorded by
// the one that the record names.
func (c *cluster) adjustOther(ctx context.Context, o *observe.Other, since time.Time) error {
	v, record, kind, err := c.dueOfOther(ctx, o)
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
		return c.restoreOther(ctx, o, v, *record.Original)
	}
	record.Value, record.State = &due, v.State
	if record.For == "" || c.owner.RefersTo(record.For) {
		record.For, record.Size, record.ReleaseSince = c.owner.Ref(), c.facts.Largest, since
	}
	_, err = c.write(ctx, &o.Budget, o.Expected, v, record, kind)
	return err
}

// restoreOther gives such a budget its author's value again.
func (c *cluster) restoreOther(ctx context.Context, o *observe.Other, v budget.Result, original annotation.BudgetValue) error {
	restored, err := c.restore(ctx, o.PodDisruptionBudget, v.MinAvailable, o.Expected)
	if restored && original != o.Value {
		c.record(o.PodDisruptionBudget, normal, policy.NewNote(v.Reason, "budget %s: %s -> %s, its author's value: %s", o.Name, o.Value, original, v.Message), actionLoosen)
	}
	return err
}

// dueOfOther evaluates the rule for such a budget, and returns its record with what its
// author wrote, and the kind of Event if the budget gets the value: a warning if no eviction is left.
func (c *cluster) dueOfOther(ctx context.Context, o *observe.Other) (v budget.Result, record annotation.BudgetRecord, kind string, err error) {
	facts, err := c.reader.SharedFacts(ctx, c.facts, o, nil)
	if err != nil {
		return v, record, "", err
	}
	record, _ = recordOf(&o.Budget, o.Expected)
	if o.Fault == nil {
		_, record = c.facts.Budgets.InForce(o.Value.Min(o.Expected), record, o.NonMembers)
	}
	if facts.Unconfirmed {
		c.waits = append(c.waits, unconfirmedWait)
	}
	facts.Hold = !c.kept() || observe.Ours(o.PodDisruptionBudget)
	if record.Original != nil {
		facts.Floor = record.Original.Min(o.Expected)
	}
	settings, err := c.sharedSettings(ctx, o)
	if err != nil {
		return v, record, "", err
	}
	v, kind = budget.EvaluateShared(facts, settings), normal
	if facts.EvictionsLeft(v.MinAvailable) == 0 {
		kind = warning
	}
	return v, record, kind, nil
}
