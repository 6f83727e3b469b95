// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// publish makes the outcome of a reconciliation known: Events, metrics and the finding.
// err is the error of the writes.
func (c *cluster) publish(err error) (reconcile.Result, error) {
	c.conditions.publish(c.owner, c.shown, c.shown.Cluster.UpVoters()-c.facts.Cluster.UpVoters(), c.reported)
	if err != nil {
		return c.publishError(err)
	}
	c.denied.Remove(c.owner.Key())
	if c.kept() {
		c.announce(c.notes())
		c.publishKept()
	} else {
		c.publishUnkept()
	}
	// A cluster without a policy requeues, too, because the metrics show its state.
	return c.requeue(), nil
}

// publishKept publishes the state of a budget that a policy keeps.
func (c *cluster) publishKept() {
	v, key := c.verdict, c.owner.Key()
	series.remove(key)
	finding := NewFinding(v1alpha1.Kept, v.Reason, v.Message)
	switch p := c.problem; {
	case p == nil:
		series.setKept(key, v.Reason, v.MinAvailable, c.evictionsLeft())
		for _, n := range slices.Concat(c.facts.Budgets.Notes, c.evidence()) {
			finding.Message += "; " + n.Message
		}
	case c.facts.Cluster.Single():
	case !c.facts.Running:
		finding = NewFinding(v1alpha1.Unknown, p.Reason, c.facts.Cluster.Operation)
	default:
		series.setUnprotected(key, p.Reason)
		finding = NewFinding(v1alpha1.Broken, p.Reason, p.Message)
	}
	c.Findings.set(key, finding)
}

// evidence returns the notes about what shows that members are ready, if it is not their readiness probe, and about a
// declared size that does not count.
func (c *cluster) evidence() []policy.Note {
	return slices.DeleteFunc(slices.Clone(c.facts.Notes), func(n policy.Note) bool {
		return n.Reason != reasons.NoReadinessProbe && n.Reason != reasons.MembersAsked && n.Reason != reasons.SizeAhead
	})
}

// publishUnkept publishes that no policy keeps the cluster's budget. Whatever stands, the
// cluster counts as unprotected from the moment on.
func (c *cluster) publishUnkept() {
	key := c.owner.Key()
	_, held := c.held.Get(key)
	if c.unkept.Reason == reasons.NoPolicy && !held {
		// The cluster never had a budget of ours.
		c.removeState(key)
		return
	}
	series.remove(key)
	if c.facts.Running && !c.facts.Cluster.Single() {
		series.setUnprotected(key, c.unkept.Reason)
	}
	var notes []policy.Note
	if c.previews() {
		notes = c.preview()
	}
	if n := c.holdNote(); n != nil {
		notes = append(notes, *n)
	}
	c.announce(notes)
	finding := NewFinding(v1alpha1.Off, c.unkept.Reason, c.unkept.Message)
	if c.previews() {
		finding.Message += "; in mode Enforce: " + c.verdict.Message
	}
	c.Findings.set(key, finding)
}

// preview returns what mode Enforce would do.
func (c *cluster) preview() []policy.Note {
	v, notes := c.verdict, c.notes()
	if kept := c.facts.Budgets.Managed; kept != nil {
		if due := kept.Value.WithMin(v.Target, c.facts.Replicas); due != kept.Value {
			notes = append(notes, policy.Note{Reason: reasons.PolicyWarns, Message: fmt.Sprintf(
				"EtcdTopologyPolicy %s (mode Warn): budget %s would be kept at %s, not %s: %s", c.policy.Name, kept.Name, due, kept.Value, v.Message)})
		}
	}
	return notes
}

// tightenRetry is how long a refused write waits that makes a budget stricter. Others wait
// longer with each refusal.
const tightenRetry = 5 * time.Second

// publishError publishes why a write failed, and returns when to retry. An error that is
// returned is retried by the queue.
func (c *cluster) publishError(err error) (reconcile.Result, error) {
	key := c.owner.Key()
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		// Another client wrote the budget meanwhile. Observe it again.
		writes.WithLabelValues(resultConflict).Inc()
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case write.Answered(err):
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
		c.Findings.set(key, NewFinding(v1alpha1.Broken, note.Reason, note.Message))
		wait := c.denied.Next(key)
		if c.tightens() {
			wait = tightenRetry
		}
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	writes.WithLabelValues(resultFailed).Inc()
	return reconcile.Result{}, err
}

// tightens reports whether the cluster waits for a budget that is stricter than the one that
// stands, or for its first one.
func (c *cluster) tightens() bool {
	kept := c.facts.Budgets.Managed
	return kept == nil || c.verdict.MinAvailable > kept.Value.Min(c.facts.Replicas)
}

// notes returns what users should know of the cluster's budget. A cluster of one member
// needs no budget.
func (c *cluster) notes() []policy.Note {
	notes := slices.Concat(c.verdict.Notes, c.facts.Notes)
	if !c.facts.Cluster.Single() {
		notes = append(notes, c.facts.Budgets.Notes...)
	}
	if c.problem != nil && c.facts.Running && !c.facts.Cluster.Single() {
		notes = append(notes, *c.problem)
	}
	return notes
}

// evictionsLeft returns how many Ready pods the budget allows to evict, as the disruption
// controller will count them. The eviction of a pod under two budgets fails.
func (c *cluster) evictionsLeft() int {
	ready, possible := c.facts.Cluster.NonMemberPods, c.facts.Cluster.NonMemberPods
	blocked := c.facts.Budgets.Blocked()
	for _, m := range c.facts.Cluster.Members {
		if !m.PodReady {
			continue
		}
		ready++
		if !blocked[m.Pod] {
			possible++
		}
	}
	return max(0, min(possible, ready-c.verdict.MinAvailable))
}
