// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/budget"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// keep brings the cluster's budget to the value that is due.
func (c *cluster) keep(ctx context.Context) (reconcile.Result, error) {
	c.decide()
	if err := c.tidy(ctx); err != nil {
		return c.failed(err)
	}
	budgets := &c.facts.Budgets
	if budgets.Kept != nil {
		if left := c.rivals.quarrel(c.owner.Key(), c.facts.At); left > 0 {
			budgets.Problem = c.writtenBack(budgets.Kept.Name)
			budgets.Kept, c.quarrel = nil, left
		}
	}
	switch {
	case budgets.Kept != nil:
		if err := c.write(ctx); err != nil {
			return c.failed(err)
		}
	case budgets.Problem.Reason == observe.NoBudget && c.facts.Running && c.facts.Cluster.Size > 1 && c.policy.Spec.Disruption.CreateMissing:
		budgets.Problem = nil
		if err := c.create(ctx); err != nil {
			return c.failed(err)
		}
	}
	if kept := budgets.Kept; kept != nil {
		budgets.Problem = c.uncounted(kept)
	}
	c.denied.drop(c.owner.Key())
	c.say(c.notes())
	c.report()
	return c.again(), nil
}

// write sets the kept budget's number and record, if they are not so already.
func (c *cluster) write(ctx context.Context) error {
	v, kept := c.verdict, c.facts.Budgets.Kept
	if kept.DeletionTimestamp != nil {
		return nil
	}
	if !c.facts.Confirmed && v.Target < kept.Value.Min(c.facts.Replicas) {
		// Leases seen for the first time prove too little to loosen on.
		return nil
	}
	record, wasUndone := c.author()
	due := kept.Value.WithMin(v.MinAvailable, c.facts.Replicas)
	record.For, record.Value, record.State = c.owner.Ref(), &due, v.State
	if v.MinAvailable == v.Target || record.Reason == "" {
		record.Reason = v.Reason
	}
	loosens := due.Min(c.facts.Replicas) < kept.Value.Min(c.facts.Replicas)
	patch, err := budget.Patch(kept.PodDisruptionBudget, &due, record, loosens)
	if err != nil || patch == nil {
		return err
	}
	if err := c.patch(ctx, kept.PodDisruptionBudget, patch); err != nil {
		return err
	}
	if wasUndone {
		undone.Inc()
		c.rivals.note(c.owner.Key(), c.facts.At)
	}
	if due != kept.Value {
		log.FromContext(ctx).Info("set budget", "budget", kept.Name, "from", kept.Value.String(), "to", due.String(), "reason", record.Reason)
		action := actionTighten
		if loosens {
			action = actionLoosen
		}
		c.inform(policy.Note{Reason: record.Reason, Message: fmt.Sprintf("budget %s: %s -> %s: %s", kept.Name, kept.Value, due, v.Message)}, action)
	}
	return nil
}

// author is the kept budget's record with what its author asks for. A number
// that isn't the one we set was written when admission didn't reach us; it also
// says whether that one undid ours.
func (c *cluster) author() (record observe.BudgetRecord, wasUndone bool) {
	kept := c.facts.Budgets.Kept
	record = kept.Record
	switch set := record.Value; {
	case set != nil && *set != kept.Value:
		record.Original = &kept.Value
		wasUndone = kept.Value.Min(c.facts.Replicas) < set.Min(c.facts.Replicas)
	case record.Original == nil && !observe.Ours(kept.PodDisruptionBudget):
		record.Original = &kept.Value
	}
	return record, wasUndone
}

// tidy removes what is ours and not needed, and lets go of budgets that are
// not this cluster's any more.
func (c *cluster) tidy(ctx context.Context) error {
	for _, pdb := range c.facts.Budgets.Surplus {
		err := c.delete(ctx, pdb)
		if err != nil {
			return err
		}
		c.inform(policy.Note{Reason: "BudgetRemoved", Message: fmt.Sprintf("budget %s was made because there was none, and goes: the members have another", pdb.Name)}, actionKeep)
	}
	for _, pdb := range c.facts.Budgets.Strayed {
		if err := c.letGo(ctx, pdb); err != nil {
			return err
		}
	}
	return nil
}

// letGo ends what we do to a budget that isn't this cluster's any more. The one that we
// made goes, since its name is needed for another; a copy of it is somebody's own.
func (c *cluster) letGo(ctx context.Context, pdb *policyv1.PodDisruptionBudget) error {
	if !observe.Ours(pdb) || pdb.Name != c.quorumBudget() {
		return c.restore(ctx, pdb, 0)
	}
	if err := c.delete(ctx, pdb); err != nil {
		return err
	}
	c.inform(policy.Note{Reason: "BudgetRemoved", Message: fmt.Sprintf("budget %s was made for the members and selects others now: it goes", pdb.Name)}, actionKeep)
	return nil
}

// uncounted is why a budget that is kept doesn't protect the members, nil where it does.
func (c *cluster) uncounted(kept *observe.Budget) *policy.Note {
	due := c.verdict.MinAvailable
	if c.facts.Budgets.Strangers == 0 {
		return nil
	}
	if can := kept.Value.WithMin(due, c.facts.Replicas).Min(c.facts.Replicas); can < due {
		return &policy.Note{Reason: observe.BudgetUncounted, Message: fmt.Sprintf(
			"budget %s can't keep the %d pods that are due: maxUnavailable 0 keeps %d, and it also selects pods without a controller, which count as healthy; use minAvailable, or narrow its selector to the members", kept.Name, due, can)}
	}
	return nil
}

// writtenBack is why a budget that somebody keeps resetting is left alone.
func (c *cluster) writtenBack(budget string) *policy.Note {
	return &policy.Note{Reason: reasonWrittenBack, Message: fmt.Sprintf(
		"budget %s is left alone: somebody set it back %d times within %s past admission; whoever keeps it must stop, or write it where this project's webhook is called", budget, quarrels, quarrelTime)}
}

// report publishes what was decided.
func (c *cluster) report() {
	v, key := c.verdict, c.owner.Key()
	dropSeries(key)
	finding := v1alpha1.Finding{Verdict: v1alpha1.Kept, Reason: v.Reason, Message: v.Message}
	switch p := c.facts.Budgets.Problem; {
	case p == nil:
		showKept(key, v.Reason, v.MinAvailable, c.evictionsLeft())
	case c.facts.Cluster.Size <= 1:
	case !c.facts.Running:
		finding = v1alpha1.Finding{Verdict: v1alpha1.Unknown, Reason: p.Reason, Message: c.facts.Cluster.Operation}
	default:
		showUnprotected(key, p.Reason)
		finding = v1alpha1.Finding{Verdict: v1alpha1.Broken, Reason: p.Reason, Message: p.Message}
	}
	c.Findings.set(key, finding)
}

// evictionsLeft is how many Ready pods the budget lets go, as the disruption
// controller will find out.
func (c *cluster) evictionsLeft() int {
	ready := c.facts.Cluster.Strangers
	for _, m := range c.facts.Cluster.Members {
		if m.PodReady {
			ready++
		}
	}
	return max(0, ready-c.verdict.MinAvailable)
}

// failed sorts out why a write didn't happen.
func (c *cluster) failed(err error) (reconcile.Result, error) {
	key := c.owner.Key()
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		// Somebody was faster; look again at what they did.
		writes.WithLabelValues(resultConflict).Inc()
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case refused(err):
		// etcd-druid's component protection forbids it while it reconciles.
		// It is somebody's guard: it stays on, and we come again.
		writes.WithLabelValues(refusal(err)).Inc()
		note := policy.Note{Reason: reasonWriteDenied, Message: fmt.Sprintf("the budget of %s can't be written, the next try follows: %v", c.owner, err)}
		if apierrors.IsAlreadyExists(err) {
			note = policy.Note{Reason: reasonNameTaken, Message: fmt.Sprintf("no budget protects the members of %s, and none can be made: one of that name selects others: %v", c.owner, err)}
		}
		c.say(append(c.notes(), note))
		showUnprotected(key, note.Reason)
		c.Findings.set(key, v1alpha1.Finding{Verdict: v1alpha1.Broken, Reason: note.Reason, Message: note.Message})
		return reconcile.Result{RequeueAfter: c.denied.wait(key)}, nil
	}
	writes.WithLabelValues(resultFailed).Inc()
	return reconcile.Result{}, err
}

// refusal tells a guard's denial from what failed on the way.
func refusal(err error) string {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsAlreadyExists(err) {
		return resultDenied
	}
	return resultFailed
}

func (b *Budget) patch(ctx context.Context, pdb *policyv1.PodDisruptionBudget, patch client.Patch) error {
	// The API server's answer goes into a copy: pdb is the cache's.
	if err := b.Client.Patch(ctx, pdb.DeepCopy(), patch, FieldOwner); err != nil {
		return fmt.Errorf("patch budget %s/%s: %w", pdb.Namespace, pdb.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	return nil
}

func (b *Budget) delete(ctx context.Context, pdb *policyv1.PodDisruptionBudget) error {
	only := client.Preconditions{UID: &pdb.UID}
	if err := client.IgnoreNotFound(b.Client.Delete(ctx, pdb, only)); err != nil {
		return fmt.Errorf("delete budget %s/%s: %w", pdb.Namespace, pdb.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	return nil
}
