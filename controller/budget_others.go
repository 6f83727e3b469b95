// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
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
	c.otherWait = sooner(c.otherWait, v.Recheck)
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
	record.State, record.ReleaseSince = v.State, since
	if v.MinAvailable == v.Target || record.Reason == "" {
		record.Reason = v.Reason.Name()
	}
	return c.writeOther(ctx, o, v, record, due, loosens)
}

// writeOther writes the number and the record of one of them if they differ.
func (c *cluster) writeOther(ctx context.Context, o *observe.Other, v budget.Result, record annotation.BudgetRecord, due annotation.BudgetValue, loosens bool) error {
	if record.For == "" {
		record.For = c.owner.Ref()
	}
	record.Value = &due
	if record.For == c.owner.Ref() {
		record.Size = c.facts.Largest
	}
	patch, err := pdb.Patch(o.PodDisruptionBudget, &due, record, loosens)
	if err != nil || patch == nil {
		return err
	}
	if err := c.patch(ctx, o.PodDisruptionBudget, patch); err != nil {
		return err
	}
	if due != o.Value {
		log.FromContext(ctx).Info("set a budget that can't protect the cluster alone", "budget", o.Name, "from", o.Value.String(), "to", due.String())
		action := actionTighten
		if loosens {
			action = actionLoosen
		}
		c.record(o.PodDisruptionBudget, normal, policy.NewNote(recordedReason(record, v), "budget %s: %s -> %s: %s", o.Name, o.Value, due, v.Message), action)
	}
	return nil
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

// sooner returns the shorter one of two waits, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
