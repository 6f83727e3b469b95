// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// publish makes the outcome of a reconciliation known: Events, metrics and the finding.
// err is the error of the writes.
func (c *cluster) publish(err error) (reconcile.Result, error) {
	c.conditions.publish(c.owner, c.facts, c.reported)
	switch {
	case err != nil:
		return c.publishError(err)
	case c.mode == v1alpha1.ModeEnforce:
		c.denied.remove(c.owner.Key())
		c.announce(c.notes())
		c.publishKept()
	case c.mode == v1alpha1.ModeWarn:
		c.denied.remove(c.owner.Key())
		c.publishPreview()
	default:
		c.forget(c.owner.Key())
	}
	// Mode Off requeues, too, because the metrics show the state of each cluster.
	return c.requeue(), nil
}

// publishKept publishes the state of a budget that a policy keeps.
func (c *cluster) publishKept() {
	v, key := c.verdict, c.owner.Key()
	series.remove(key)
	finding := newFinding(v1alpha1.Kept, v.Reason, v.Message)
	switch p := c.problem; {
	case p == nil:
		series.setKept(key, v.Reason, v.MinAvailable, c.evictionsLeft())
	case c.facts.Cluster.Size <= 1:
	case !c.facts.Running:
		finding = newFinding(v1alpha1.Unknown, p.Reason, c.facts.Cluster.Operation)
	default:
		series.setUnprotected(key, p.Reason)
		finding = newFinding(v1alpha1.Broken, p.Reason, p.Message)
	}
	c.Findings.swap(key, finding)
}

// publishPreview publishes what mode Enforce would do.
func (c *cluster) publishPreview() {
	v, notes := c.verdict, c.notes()
	if kept := c.facts.Budgets.Managed; kept != nil {
		if due := kept.Value.WithMin(v.Target, c.facts.Replicas); due != kept.Value {
			notes = append(notes, policy.Note{Reason: reasons.PolicyWarns, Message: fmt.Sprintf(
				"EtcdTopologyPolicy %s (mode Warn): budget %s would be kept at %s, not %s: %s", c.policy.Name, kept.Name, due, kept.Value, v.Message)})
		}
	}
	c.announce(notes)
	series.remove(c.owner.Key())
	c.Findings.swap(c.owner.Key(), newFinding(v1alpha1.Off, reasons.PolicyWarns, v.Message))
}

// publishError publishes why a write failed, and returns when to retry. An error that is
// returned is retried by the queue.
func (c *cluster) publishError(err error) (reconcile.Result, error) {
	key := c.owner.Key()
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		// Another client wrote the budget meanwhile. Observe it again.
		writes.WithLabelValues(resultConflict).Inc()
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case answered(err):
		// For example, etcd-druid's component protection denies writes while it reconciles.
		// It stays switched on, and the write is retried.
		writes.WithLabelValues(resultOf(err)).Inc()
		note := policy.Note{Reason: reasons.BudgetWriteDenied, Message: fmt.Sprintf("cannot write the disruption budget of %s; retrying: %v", c.owner, err)}
		if apierrors.IsAlreadyExists(err) {
			note = policy.Note{Reason: reasons.BudgetNameTaken, Message: fmt.Sprintf(
				"no disruption budget protects the members of %s, and none can be created, because a budget of that name selects other pods: %v", c.owner, err)}
		}
		c.announce(append(c.notes(), note))
		series.setUnprotected(key, note.Reason)
		c.Findings.swap(key, newFinding(v1alpha1.Broken, note.Reason, note.Message))
		return reconcile.Result{RequeueAfter: c.denied.next(key)}, nil
	}
	writes.WithLabelValues(resultFailed).Inc()
	return reconcile.Result{}, err
}

// notes returns what users should know of the cluster's budget. A cluster of one member
// needs no budget.
func (c *cluster) notes() []policy.Note {
	notes := slices.Concat(c.verdict.Notes, c.facts.Notes)
	if c.problem != nil && c.facts.Running && c.facts.Cluster.Size > 1 {
		notes = append(notes, *c.problem)
	}
	return notes
}

// announce records each note as a warning Event, once for as long as its reason holds.
func (c *cluster) announce(notes []policy.Note) {
	reason := func(n policy.Note) string { return n.Reason.Name() }
	for _, n := range c.announced.fresh(c.owner.Key(), notes, reason) {
		warn(c.Recorder, c.owner, n, actionKeep)
	}
}

// event records a normal Event on the cluster's owner.
func (c *cluster) event(n policy.Note, action string) { inform(c.Recorder, c.owner, n, action) }

// evictionsLeft returns how many Ready pods the budget allows to evict, as the disruption
// controller will count them.
func (c *cluster) evictionsLeft() int {
	ready := c.facts.Cluster.NonMemberPods
	for _, m := range c.facts.Cluster.Members {
		if m.PodReady {
			ready++
		}
	}
	return max(0, ready-c.verdict.MinAvailable)
}
