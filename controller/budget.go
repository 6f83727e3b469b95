// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Budget keeps one disruption budget for each etcd cluster that a policy
// selects at the value that the rule asks for. It adopts the budget that
// exists, makes one only where there is none and the policy says so, and never
// leaves two on one pod. Tightening is at once; it alone loosens.
//
// It holds nothing that matters in memory: what must survive a restart stands
// on the budget.
type Budget struct {
	Client   BudgetWriter
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock
	// Findings gets what was found of each cluster's budget.
	Findings *Findings

	said   said
	rivals rivals
	denied denied
	seen   clustersSeen
}

// BudgetWriter is what of a client this controller uses.
type BudgetWriter interface {
	Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// FieldOwner is the name under which this project's writes are booked in an
// object's managed fields.
const FieldOwner = client.FieldOwner("etcd-webhook")

// Reconcile observes one cluster, lets go of it if no policy keeps its budget,
// and otherwise decides and applies.
func (b *Budget) Reconcile(ctx context.Context, key observe.OwnerKey) (reconcile.Result, error) {
	owner, found, err := b.Reader.Owner(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found {
		return b.forget(ctx, key)
	}
	match, err := b.Reader.PolicyFor(ctx, owner)
	if err != nil {
		return reconcile.Result{}, err
	}
	facts, err := b.Reader.Facts(ctx, owner)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observe %s: %w", owner, err)
	}
	if err := b.seen.publish(ctx, b.Reader, owner, facts); err != nil {
		return reconcile.Result{}, err
	}
	c := &cluster{Budget: b, owner: owner, facts: facts, policy: match.Policy}
	on := match.Policy != nil && match.Policy.Spec.Disruption.On()
	switch {
	case on && match.In(v1alpha1.ModeEnforce):
		return c.keep(ctx)
	case on && match.In(v1alpha1.ModeWarn):
		if err := c.release(ctx); err != nil {
			return c.failed(err)
		}
		return c.warn(), nil
	}
	if err := c.release(ctx); err != nil {
		return c.failed(err)
	}
	b.drop(key)
	// Nobody keeps its budget, but the metrics tell how it is.
	return c.again(), nil
}

// cluster is one cluster during one reconciliation.
type cluster struct {
	*Budget
	owner  observe.Owner
	facts  observe.Facts
	policy *v1alpha1.EtcdTopologyPolicy
	// verdict is zero until the rule was asked.
	verdict policy.BudgetVerdict
	// quarrel is for how long the budget is left to whoever sets it back, 0 for nobody.
	quarrel time.Duration
}

// decide asks the rule.
func (c *cluster) decide() {
	facts := policy.BudgetFacts{Cluster: c.facts.Cluster, Current: -1, Now: c.facts.At}
	if kept := c.facts.Budgets.Kept; kept != nil {
		facts.Current, facts.State = kept.Value.Min(c.facts.Replicas), kept.Record.State
	}
	c.verdict = policy.Budget(facts, observe.BudgetSettings(c.policy))
}

// warn says what would be done in mode Warn, and does nothing.
func (c *cluster) warn() reconcile.Result {
	c.decide()
	v, notes := c.verdict, c.notes()
	if kept := c.facts.Budgets.Kept; kept != nil {
		if due := kept.Value.WithMin(v.Target, c.facts.Replicas); due != kept.Value {
			notes = append(notes, policy.Note{Reason: reasonWouldKeep, Message: fmt.Sprintf(
				"EtcdTopologyPolicy %s (mode Warn): budget %s would be kept at %s, not %s: %s", c.policy.Name, kept.Name, due, kept.Value, v.Message)})
		}
	}
	c.say(notes)
	dropSeries(c.owner.Key())
	c.Findings.set(c.owner.Key(), v1alpha1.Finding{Verdict: v1alpha1.Off, Reason: reasonWouldKeep, Message: v.Message})
	return c.again()
}

// notes are what a person should hear of the cluster's budget. A cluster of
// one needs none.
func (c *cluster) notes() []policy.Note {
	notes := slices.Concat(c.verdict.Notes, c.facts.Notes)
	if p := c.facts.Budgets.Problem; p != nil && c.facts.Running && c.facts.Cluster.Size > 1 {
		notes = append(notes, *p)
	}
	return notes
}

// again is when to look again although nothing may have happened.
func (c *cluster) again() reconcile.Result {
	after := c.verdict.Recheck
	if next := c.facts.NextChange; next > 0 && (after == 0 || next < after) {
		after = next
	}
	if c.quarrel > 0 && (after == 0 || c.quarrel < after) {
		after = c.quarrel
	}
	if !c.facts.Confirmed && (after == 0 || unconfirmedWait < after) {
		after = unconfirmedWait
	}
	return reconcile.Result{RequeueAfter: after}
}

// unconfirmedWait is how soon to look again at leases that were just seen for
// the first time: members renew them every ten seconds.
const unconfirmedWait = 5 * time.Second

// orphansWait is how soon to look again whether members without an owner are gone.
const orphansWait = 10 * time.Second

// forget lets go of a cluster that is gone. Its budgets stay as they are while members
// run that nobody owns: kubectl delete --cascade=orphan leaves them, and often somebody
// makes the owner anew.
func (b *Budget) forget(ctx context.Context, key observe.OwnerKey) (reconcile.Result, error) {
	b.drop(key)
	b.seen.drop(key)
	left, err := b.releaseOrphans(ctx, key)
	if err != nil || !left {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: orphansWait}, nil
}

// drop removes what is kept in memory of a cluster.
func (b *Budget) drop(key observe.OwnerKey) {
	b.said.drop(key)
	b.rivals.drop(key)
	b.denied.drop(key)
	b.Findings.drop(key)
	dropSeries(key)
}
