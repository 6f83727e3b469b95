// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
)

// detachOrphans restores the budgets that were kept for an owner that is gone, and deletes
// those that were created for it. Budgets that select running members stay as they are;
// remaining reports whether there are any.
func (b *Budget) detachOrphans(ctx context.Context, key observe.OwnerKey) (remaining bool, err error) {
	var all policyv1.PodDisruptionBudgetList
	if err := b.Reader.List(ctx, &all, client.InNamespace(key.Namespace)); err != nil {
		return false, fmt.Errorf("list budgets of %s: %w", key, err)
	}
	for i := range all.Items {
		budget := &all.Items[i]
		if budget.Annotations[v1alpha1.BudgetForAnnotation] != key.Ref() || budget.DeletionTimestamp != nil {
			continue
		}
		left, err := b.leftToOthers(ctx, budget)
		switch {
		case err != nil:
			return remaining, err
		case left:
			continue
		}
		selected, err := b.Reader.SelectsOrphan(ctx, budget)
		if err != nil {
			return remaining, err
		}
		if selected {
			remaining = true
			continue
		}
		// A copy of a created budget has its label and record, but belongs to its author.
		if observe.NotCopied(budget) {
			err = b.delete(ctx, budget)
		} else {
			err = b.restore(ctx, budget, 0, 0)
		}
		if client.IgnoreNotFound(err) != nil {
			return remaining, err
		}
	}
	return remaining, nil
}

// leftToOthers reports whether the other workloads of a cluster that spans several take over a
// budget of the one that is gone.
func (b *Budget) leftToOthers(ctx context.Context, budget *policyv1.PodDisruptionBudget) (bool, error) {
	if !observe.IsByPodNames(budget.Spec.Selector) {
		return false, nil
	}
	others, err := b.Reader.OwnersOfBudget(ctx, budget)
	return len(others) > 0, err
}

// restore sets the author's value, but at least minAvailable, and removes the record.
func (b *Budget) restore(ctx context.Context, budget *policyv1.PodDisruptionBudget, minAvailable, replicas int) error {
	patch, err := pdb.Restore(budget, minAvailable, replicas, b.Clock.Now())
	if err != nil || patch == nil {
		return err
	}
	return b.patch(ctx, budget, patch)
}

func (b *Budget) patch(ctx context.Context, budget *policyv1.PodDisruptionBudget, patch client.Patch) error {
	// The client writes the API server's answer into the object, and budget is the cache's.
	if err := b.Client.Patch(ctx, budget.DeepCopy(), patch, FieldOwner); err != nil {
		return fmt.Errorf("patch budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	return nil
}

func (b *Budget) delete(ctx context.Context, budget *policyv1.PodDisruptionBudget) error {
	only := client.Preconditions{UID: &budget.UID}
	if err := client.IgnoreNotFound(b.Client.Delete(ctx, budget, only)); err != nil {
		return fmt.Errorf("delete budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	return nil
}
