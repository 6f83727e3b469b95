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
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// apply brings the cluster's budget to the value of the verdict.
func (c *cluster) apply(ctx context.Context) error {
	c.held.Remove(c.owner.Key())
	// The budget that protects the cluster comes first. A write of another one that is refused stops nothing.
	wait, err := c.applyKept(ctx)
	others := c.adjustOthers(ctx)
	switch {
	case err != nil, wait > 0 && c.keptTooLow(), c.facts.Budgets.Managed == nil && others != nil:
	default:
		// Only now is the budget that remains at its value.
		err = c.removeSurplus(ctx, "the members have another budget")
	}
	return errors.Join(err, others, c.removeStrayed(ctx), c.keepAgain(ctx))
}

// keptTooLow reports whether the budget that remains was found with a lower value than is due.
func (c *cluster) keptTooLow() bool {
	return c.facts.Budgets.Managed.Value.Min(c.facts.Replicas) < c.verdict.MinAvailable
}

// applyKept brings the budget that protects the cluster to its value, or creates it. It returns how long an
// existing one is not written because others reset it too often.
func (c *cluster) applyKept(ctx context.Context) (wait time.Duration, err error) {
	kept := c.facts.Budgets.Managed
	if kept == nil {
		return 0, c.createMissing(ctx)
	}
	wait, written := c.conflicts.backoff(c.owner.Key(), c.facts.At)
	if wait > 0 && !c.worseThan(written) {
		c.problem, c.waits = resetNote(kept.Name), append(c.waits, wait)
		return wait, c.reselect(ctx)
	}
	if err := c.adjust(ctx, time.Time{}); err != nil {
		return wait, err
	}
	c.problem = c.uncountedNote(kept)
	// Its number comes first: the members that it did not select are under other budgets, or under none.
	return wait, c.reselect(ctx)
}

// createMissing creates the budget if the cluster has none and the policy wants one.
func (c *cluster) createMissing(ctx context.Context) error {
	if !c.lacksBudget() {
		return nil
	}
	if err := c.freeName(ctx); err != nil {
		return err
	}
	c.problem = nil
	return c.create(ctx)
}

// freeName removes the budget that strayed and has the name of the one to create. Others need not go before.
func (c *cluster) freeName(ctx context.Context) error {
	all := c.facts.Budgets.Detached
	for i, budget := range all {
		if budget.Name == c.quorumBudget() {
			c.facts.Budgets.Detached = slices.Concat(all[:i], all[i+1:])
			return c.removeOneStrayed(ctx, budget)
		}
	}
	return nil
}

// lacksBudget reports whether the cluster has no budget and the policy wants one created.
func (c *cluster) lacksBudget() bool {
	return c.problem.Reason == reasons.NoBudget && c.facts.Running && !c.facts.Cluster.Single() && c.createsMissing()
}

// adjust sets the number and the record of the kept budget if they differ. since is since
// when no policy keeps it, zero while one does. Evictions are admitted by one that is being deleted,
// too, until its finalizers are gone.
func (c *cluster) adjust(ctx context.Context, since time.Time) error {
	v, kept := c.verdict, c.facts.Budgets.Managed
	record, wasReset := recordOf(kept, c.facts.Replicas)
	_, record = c.facts.Budgets.InForce(kept.Value.Min(c.facts.Replicas), record, c.facts.Budgets.NonMemberPods)
	due := kept.Value.WithMin(v.MinAvailable, c.facts.Replicas)
	record.For, record.Value, record.State, record.ReleaseSince = c.owner.Ref(), &due, v.State, since
	record.Size = c.facts.Largest
	kind := normal
	if c.evictionsLeft() == 0 {
		kind = warning
	}
	written, err := c.write(ctx, kept, c.facts.Replicas, v, record, kind)
	if written {
		c.conflicts.wrote(c.owner.Key(), c.severity(), wasReset, c.facts.At)
	}
	if written && wasReset {
		undone.Inc()
	}
	return err
}

// write writes the value and the record of a budget if they differ, and records an Event of a
// new value: a normal one if the budget becomes looser, and else one of the kind. So does one of the kind warning of the
// same value whose reason is a member that is not in order now. replicas is
// the number from which maxUnavailable is subtracted. It reports whether it has written.
func (c *cluster) write(ctx context.Context, b *observe.Budget, replicas int, v budget.Result, record annotation.BudgetRecord, kind string) (written bool, err error) {
	if v.MinAvailable == v.Target || record.Reason == "" {
		record.Reason = v.Reason.Name()
	}
	due, action := *record.Value, actionTighten
	loosens := due.Min(replicas) < b.Value.Min(replicas)
	if loosens {
		kind, action = normal, actionLoosen
	}
	patch, err := pdb.Patch(b.PodDisruptionBudget, &due, record, loosens)
	if err != nil || patch == nil {
		return false, err
	}
	if err := c.patch(ctx, b.PodDisruptionBudget, patch); err != nil {
		return false, err
	}
	switch {
	case due != b.Value || b.NoNumber:
		was := b.Value.String()
		if b.NoNumber {
			was = "no number"
		}
		log.FromContext(ctx).Info("set budget", "budget", b.Name, "from", was, "to", due.String(), "reason", record.Reason)
		c.record(b.PodDisruptionBudget, kind, policy.NewNote(recordedReason(record, v), "budget %s: %s -> %s: %s", b.Name, was, due, v.Message), action)
	case kind == warning && record.Reason != b.Record.Reason && budget.ShowsUnwell(record.Reason):
		// A drain begins to wait, although the number stays.
		c.record(b.PodDisruptionBudget, kind, policy.NewNote(recordedReason(record, v), "budget %s stays at %s: %s", b.Name, due, v.Message), actionKeep)
	}
	return true, nil
}

// recordedReason returns the reason of a record, or else that of the verdict.
func recordedReason(record annotation.BudgetRecord, v budget.Result) policy.Reason {
	if reason, declared := reasons.Find(record.Reason); declared {
		return reason
	}
	return v.Reason
}

// recordOf returns the record of a budget with the value that its author wrote last. If the
// budget doesn't have the value that we set, another client wrote it without passing
// admission; wasReset reports whether that loosened the budget, or left it without a number.
func recordOf(kept *observe.Budget, replicas int) (record annotation.BudgetRecord, wasReset bool) {
	record = kept.Record
	switch set := record.Value; {
	case kept.NoNumber:
		wasReset = true
	case set != nil && *set != kept.Value:
		record.Original = &kept.Value
		wasReset = kept.Value.Min(replicas) < set.Min(replicas)
	case record.Original == nil && !observe.Ours(kept.PodDisruptionBudget):
		record.Original = &kept.Value
	}
	return record, wasReset
}

// removeSurplus deletes our budgets that aren't needed.
func (c *cluster) removeSurplus(ctx context.Context, why string) error {
	var errs []error
	for _, budget := range c.facts.Budgets.Duplicates {
		if c.wroteEnough() {
			break
		}
		errs = append(errs, c.deleteWithEvent(ctx, budget, why))
	}
	return errors.Join(errs...)
}

// removeStrayed detaches from budgets that don't belong to this cluster any more.
func (c *cluster) removeStrayed(ctx context.Context) error {
	var errs []error
	for _, budget := range c.facts.Budgets.Detached {
		if budget.Name != c.quorumBudget() && c.wroteEnough() {
			continue
		}
		errs = append(errs, c.removeOneStrayed(ctx, budget))
	}
	return errors.Join(errs...)
}

// removeOneStrayed detaches from one of them. A copy under another name belongs to its author. The budget that we
// created selects no members, and is deleted, because a new one needs its name.
func (c *cluster) removeOneStrayed(ctx context.Context, budget *policyv1.PodDisruptionBudget) error {
	if observe.Ours(budget) && budget.Name == c.quorumBudget() {
		return c.deleteWithEvent(ctx, budget, "it no longer selects the members")
	}
	handed, err := c.handOverBudget(ctx, budget, &c.owner)
	if err == nil && !handed {
		err = c.restoreStrayed(ctx, budget)
	}
	return err
}

func (c *cluster) restoreStrayed(ctx context.Context, budget *policyv1.PodDisruptionBudget) error {
	restored, err := c.restore(ctx, budget, 0, c.facts.Replicas)
	if restored {
		c.record(budget, c.kindOfEnd(), policy.NewNote(reasons.BudgetReleased,
			"budget %s is left to its author: it no longer selects the members of %s, or no value can be set in its fields", budget.Name, c.owner), actionRelease)
	}
	return err
}

func (c *cluster) deleteWithEvent(ctx context.Context, budget *policyv1.PodDisruptionBudget, why string) error {
	if err := c.delete(ctx, budget); err != nil {
		return err
	}
	c.wrote++
	c.written = append(c.written, budget.UID)
	c.record(budget, c.kindOfEnd(), removedNote(budget, why), actionRelease)
	return nil
}

// kindOfEnd returns the kind of the Event of a budget that is not kept any more: a warning if no policy keeps
// another one.
func (c *cluster) kindOfEnd() string {
	if c.kept() {
		return normal
	}
	return warning
}

func removedNote(budget *policyv1.PodDisruptionBudget, why string) policy.Note {
	return policy.NewNote(reasons.BudgetRemoved, "deleted budget %s, which this controller had created: %s", budget.Name, why)
}

// uncountedNote returns why a kept budget doesn't protect the members, or nil if it does.
func (c *cluster) uncountedNote(kept *observe.Budget) *policy.Note {
	due := c.verdict.MinAvailable
	if c.facts.Budgets.NonMemberPods == 0 {
		return nil
	}
	possible := kept.Value.WithMin(due, c.facts.Replicas).Min(c.facts.Replicas)
	if possible >= due {
		return nil
	}
	return &policy.Note{Reason: reasons.BudgetUncounted, Message: fmt.Sprintf(
		"budget %s can't keep %d pods available: maxUnavailable 0 keeps only %d, because the budget also selects pods without a controller, which count as healthy. Use minAvailable, or let the selector match the members only",
		kept.Name, due, possible)}
}

// resetNote returns the note on a budget that is left unchanged because another client resets
// it again and again.
func resetNote(budget string) *policy.Note {
	return &policy.Note{Reason: reasons.BudgetWrittenBack, Message: fmt.Sprintf(
		"budget %s is left unchanged for now: another client reset it %d times in %s, bypassing admission. Stop that client, or make sure that its writes reach this project's webhook",
		budget, maxConflicts, policy.Duration(conflictWindow))}
}
