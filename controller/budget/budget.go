// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package budget has the reconciler of disruption budgets: one budget protects each etcd cluster
// that a policy selects, at the value of the rule.
package budget

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// Reconciler keeps one disruption budget for each etcd cluster that a policy selects
// at the value that the rule requires. It adopts the existing budget. It creates one
// only if there is none and the policy allows it, and it never leaves two budgets on
// one pod. It tightens a budget at once, and only it loosens one.
// A budget that no policy keeps any more is held for a while before it is released.
//
// Its memory holds nothing that must survive a restart: that is recorded on the budget.
type Reconciler struct {
	Client   Writer
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock
	// Findings receives the state of each cluster's budget.
	Findings *Findings
	// Health asks members for their health. Nil asks none.
	Health MemberHealth

	announced announce.Once
	// held are the clusters whose budget was held or released since a policy kept it.
	held memory.Keyed[owner.Key, struct{}]
	// conflicts are about the numbers of budgets, and reselections about the selectors of those that were created here.
	conflicts, reselections conflicts

	sizes      memory.Keyed[owner.Key, annotation.LargestSize]
	denied     write.Denials[owner.Key]
	conditions conditionHistory
}

// Writer has the methods of a client by which this controller writes.
type Writer interface {
	Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

const (
	// unconfirmedWait is how long to wait before leases that were just seen for the
	// first time are read again, and before an answer that is awaited is read.
	// Members renew their leases every ten seconds.
	unconfirmedWait = 5 * time.Second
	// orphansWait is how long to wait before members without an owner are read again.
	orphansWait = 10 * time.Second
)

// Reconcile takes each cluster the same way: observe it, decide, apply the decision or
// detach from a cluster whose budget no policy keeps, and publish the outcome.
func (b *Reconciler) Reconcile(ctx context.Context, key owner.Key) (reconcile.Result, error) {
	c, err := b.observe(ctx, key)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case c == nil:
		return b.cleanup(ctx, key)
	}
	c.decide()
	if c.kept() {
		return c.publish(c.apply(ctx))
	}
	return c.publish(c.hold(ctx))
}

// cluster is one cluster during one reconciliation.
type cluster struct {
	*Reconciler
	owner owner.Owner
	facts observe.Facts
	// shown are the facts without the answers of members, as the plugin reads them. The metrics publish them.
	shown observe.Facts
	// reader remembers what this reconciliation has read.
	reader *observe.Reader
	// reported are the conditions with their times.
	reported []observe.Condition
	standing
	// noEtcd is true if the owner declares that it runs no etcd: it has no voters then.
	noEtcd  bool
	verdict budget.Result
	// problem is why no budget protects the members; nil if one does.
	problem *policy.Note
	// waits are after which times the steps of apply and hold have more to do; 0 for none.
	waits []time.Duration
	// wrote counts the writes of this reconciliation, and written are the budgets that it has written.
	wrote   int
	written []types.UID
}

// observe reads a cluster and the policy for it. It returns nil if the cluster is gone.
func (b *Reconciler) observe(ctx context.Context, key owner.Key) (*cluster, error) {
	owner, found, err := b.Reader.Owner(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	return b.observeOwner(ctx, owner)
}

// observeOwner reads the cluster of an owner and the policy for it.
func (b *Reconciler) observeOwner(ctx context.Context, owner owner.Owner) (*cluster, error) {
	match, err := topologypolicy.For(ctx, b.Reader, owner)
	if err != nil {
		return nil, err
	}
	standing := standingOf(match)
	reader := b.answering()
	reader.GuardsUnready = standing.guardsEvictions() && owner.Namespace != metav1.NamespaceSystem // whose evictions no webhook sees
	facts, shown, err := readFacts(ctx, reader, owner)
	if err != nil {
		return nil, fmt.Errorf("observe %s: %w", owner, err)
	}
	b.rememberSize(ctx, owner, &facts, standing)
	shown.Cluster.Size = facts.Cluster.Size
	reported, err := b.Reader.Conditions(ctx, owner, shown)
	if err != nil {
		// The metrics lack times then. No budget depends on them.
		log.FromContext(ctx).Error(err, "cannot read the conditions of a cluster")
	}
	return &cluster{
		Reconciler: b, owner: owner, facts: facts, shown: shown, reader: reader, reported: reported,
		standing: standing, problem: facts.Budgets.Problem,
	}, nil
}

// rememberSize adds the largest size of a cluster if no budget records it: another client may have
// deleted the budget, or it went with a StatefulSet that was created again.
func (b *Reconciler) rememberSize(ctx context.Context, owner owner.Owner, facts *observe.Facts, s standing) {
	size, _ := b.sizes.Get(owner.Key())
	facts.Remember(size)
	if err := b.Reader.AddSizeBefore(ctx, owner, facts, s.createsMissing()); err != nil {
		// The budget follows the other facts.
		log.FromContext(ctx).Error(err, "cannot read the volume claims of a cluster")
	}
	facts.Settle(s.settings().Settle)
	b.sizes.Swap(owner.Key(), facts.Largest)
}

// decide evaluates the rule.
func (c *cluster) decide() {
	facts := budget.Facts{Cluster: c.facts.Cluster, Current: -1, Now: c.facts.At, Hold: !c.kept() && len(c.heldBudgets()) > 0, Unconfirmed: !c.facts.Confirmed}
	if kept := c.facts.Budgets.Managed; kept != nil {
		record, _ := recordOf(kept, c.facts.Replicas)
		facts.Current, record = c.facts.Budgets.InForce(kept.Value.Min(c.facts.Replicas), record, c.facts.Budgets.NonMemberPods)
		facts.State = record.State
		if record.Original != nil {
			facts.Floor = record.Original.Min(c.facts.Replicas)
		}
	}
	c.verdict = budget.Evaluate(facts, c.settings())
}

// requeue returns when to reconcile again although no event may arrive.
func (c *cluster) requeue() reconcile.Result {
	unconfirmed := time.Duration(0)
	if !c.facts.Confirmed {
		unconfirmed = unconfirmedWait
	}
	waits := slices.Concat(c.waits, []time.Duration{c.verdict.Recheck, c.facts.NextChange, unconfirmed})
	waits = slices.DeleteFunc(waits, func(d time.Duration) bool { return d <= 0 })
	if len(waits) == 0 {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: slices.Min(waits)}
}

// cleanup ends the work on a cluster that is gone. Its budgets stay as they are while
// members without an owner run: kubectl delete --cascade=orphan leaves such members, and
// users often create the owner again.
func (b *Reconciler) cleanup(ctx context.Context, key owner.Key) (reconcile.Result, error) {
	// Its budgets are those of its current cluster.
	joined, err := b.Reader.Joined(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !joined {
		wait, err := b.detach(ctx, key)
		if err != nil || wait.RequeueAfter > 0 {
			return wait, err
		}
	}
	b.removeState(key)
	b.sizes.Remove(key)
	b.conditions.removeCluster(key)
	return reconcile.Result{}, nil
}

// removeState removes the memory, the finding and the metrics of a cluster's budget.
func (b *Reconciler) removeState(key owner.Key) {
	b.announced.Remove(key)
	b.conflicts.Remove(key)
	b.reselections.Remove(key)
	b.denied.Remove(key)
	b.held.Remove(key)
	b.Findings.Remove(key)
	series.remove(key)
}
