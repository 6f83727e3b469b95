// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"fmt"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// handedWait is how long to wait for the cache after a budget was handed to another cluster.
const handedWait = time.Second

// detach ends the work on the budgets of a cluster that is gone. It returns after which time there
// is more to do, 0 for never.
func (b *Reconciler) detach(ctx context.Context, key owner.Key) (reconcile.Result, error) {
	handed, err := b.handOver(ctx, key)
	if err != nil || handed {
		return reconcile.Result{RequeueAfter: handedWait}, err
	}
	c, err := b.observeFormer(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if c != nil && len(c.heldBudgets()) > 0 {
		c.decide()
		result, err := c.publish(c.hold(ctx))
		if err == nil && result.RequeueAfter == 0 {
			result.RequeueAfter = handedWait // its memory goes with the record
		}
		return result, err
	}
	remaining, err := b.detachOrphans(ctx, key)
	if err != nil || !remaining {
		return reconcile.Result{}, err
	}
	b.removeState(key)
	return reconcile.Result{RequeueAfter: orphansWait}, nil
}

// observeFormer reads a cluster of which nothing declares or shows any more that it runs etcd. What
// stands is held as for an owner that opts out. It returns nil if the workload is gone.
func (b *Reconciler) observeFormer(ctx context.Context, key owner.Key) (*cluster, error) {
	owner, denied, found, err := b.Reader.Former(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	c, err := b.observeOwner(ctx, owner)
	if err != nil {
		return nil, err
	}
	c.noEtcd = denied
	note := policy.NewNote(reasons.NoLongerEtcd, "%s is no longer declared or shown to run etcd", owner)
	if denied {
		note = policy.NewNote(reasons.NoLongerEtcd, "the annotation %s declares that %s runs no etcd", v1alpha1.EtcdAnnotation, owner)
	}
	c.unkept = &note
	return c, nil
}

// recordedBudgets lists the budgets that were kept for an owner.
func (b *Reconciler) recordedBudgets(ctx context.Context, key owner.Key) ([]*policyv1.PodDisruptionBudget, error) {
	var all policyv1.PodDisruptionBudgetList
	if err := b.Reader.List(ctx, &all, client.InNamespace(key.Namespace)); err != nil {
		return nil, fmt.Errorf("list budgets of %s: %w", key, err)
	}
	var out []*policyv1.PodDisruptionBudget
	for i := range all.Items {
		if budget := &all.Items[i]; budget.Annotations[v1alpha1.BudgetForAnnotation] == key.Ref() && budget.DeletionTimestamp == nil {
			out = append(out, budget)
		}
	}
	return out, nil
}

// handOver records another cluster on the budgets of one that is gone, if they select its members:
// the other workloads of a cluster that spanned several, or a cluster that shared the budget. What
// stands then changes by the facts of that cluster alone, and never falls below its quorum. It reports whether it wrote a
// record.
func (b *Reconciler) handOver(ctx context.Context, key owner.Key) (handed bool, err error) {
	budgets, err := b.recordedBudgets(ctx, key)
	if err != nil {
		return false, err
	}
	wrote := 0
	for _, budget := range budgets {
		one, err := b.handOverBudget(ctx, budget, nil)
		if err != nil {
			return wrote > 0, err
		}
		if one {
			wrote++
		}
		if wrote == othersAtOnce {
			break
		}
	}
	return wrote > 0, nil
}

// handOverBudget does that for one budget, unless it still selects members of its own cluster, and reports whether it
// did. from is the owner of that cluster, nil if it is gone.
func (b *Reconciler) handOverBudget(ctx context.Context, budget *policyv1.PodDisruptionBudget, from *owner.Owner) (handed bool, err error) {
	record := annotation.DecodeBudgetRecord(budget.Annotations, b.Clock.Now())
	owners, err := b.Reader.OwnersOfBudget(ctx, budget)
	if err != nil || len(owners) == 0 || slices.ContainsFunc(owners, func(o owner.Owner) bool { return o.RefersTo(record.For) }) {
		return false, err
	}
	record.HandTo(owners[0].Ref(), owners[0].Continues(record.For))
	record.ReleaseSince = time.Time{}
	patch, err := pdb.Patch(budget, nil, record, false)
	if err != nil || patch == nil {
		return false, err
	}
	if err := b.patch(ctx, budget, patch); err != nil {
		return false, err
	}
	b.recordHandOver(budget, from, owners[0])
	return true, nil
}

// detachOrphans restores the budgets that were kept for an owner that is gone, and deletes
// those that were created for it. Budgets that select running members stay as they are;
// remaining reports whether there are any.
func (b *Reconciler) detachOrphans(ctx context.Context, key owner.Key) (remaining bool, err error) {
	budgets, err := b.recordedBudgets(ctx, key)
	if err != nil {
		return false, err
	}
	wrote := 0
	for _, budget := range budgets {
		if wrote == othersAtOnce {
			return true, nil
		}
		selected, err := b.Reader.SelectsOrphan(ctx, budget)
		if err != nil {
			return remaining, err
		}
		if selected {
			remaining = true
			continue
		}
		if err := b.detachOrphan(ctx, key, budget); client.IgnoreNotFound(err) != nil {
			return remaining, err
		}
		wrote++
	}
	return remaining, nil
}

// detachOrphan deletes or restores one of them. There is no owner any more that the Event could be about.
func (b *Reconciler) detachOrphan(ctx context.Context, key owner.Key, budget *policyv1.PodDisruptionBudget) error {
	// A copy of a created budget has its label and record, but belongs to its author.
	if observe.NotCopied(budget) {
		if err := b.delete(ctx, budget); err != nil {
			return err
		}
		announce.Event(b.Recorder, budget, nil, normal, removedNote(budget, key.String()+" is gone"), actionRelease)
		return nil
	}
	restored, err := b.restore(ctx, budget, 0, 0)
	if restored {
		announce.Event(b.Recorder, budget, nil, normal, policy.NewNote(reasons.BudgetReleased, "budget %s has its author's value again: %s is gone", budget.Name, key), actionRelease)
	}
	return err
}

// restore sets the author's value, but at least minAvailable, and removes the record. It reports whether there
// was a record.
func (b *Reconciler) restore(ctx context.Context, budget *policyv1.PodDisruptionBudget, minAvailable, replicas int) (restored bool, err error) {
	patch, err := pdb.Restore(budget, minAvailable, replicas, b.Clock.Now())
	if err != nil || patch == nil {
		return false, err
	}
	if err := b.patch(ctx, budget, patch); err != nil {
		return false, err
	}
	return true, nil
}

func (b *Reconciler) patch(ctx context.Context, budget *policyv1.PodDisruptionBudget, patch client.Patch) error {
	// The client writes the API server's answer into the object, and budget is the cache's.
	if err := b.Client.Patch(ctx, budget.DeepCopy(), patch, write.FieldOwner); err != nil {
		return fmt.Errorf("patch budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	return nil
}

func (b *Reconciler) delete(ctx context.Context, budget *policyv1.PodDisruptionBudget) error {
	only := client.Preconditions{UID: &budget.UID}
	if err := client.IgnoreNotFound(b.Client.Delete(ctx, budget, only)); err != nil {
		return fmt.Errorf("delete budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	return nil
}
