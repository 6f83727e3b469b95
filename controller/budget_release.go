// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/budget"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// release lets go of a cluster whose budget no policy keeps: what its author
// asked for comes back, unless that is below the quorum.
func (c *cluster) release(ctx context.Context) error {
	b := c.facts.Budgets
	if err := c.tidy(ctx); err != nil {
		return err
	}
	pdb := b.Left
	if b.Kept != nil {
		pdb = b.Kept.PodDisruptionBudget
	}
	switch {
	case pdb == nil:
		return nil
	case observe.Original(pdb):
		return c.delete(ctx, pdb)
	}
	return c.restore(ctx, pdb, budget.Least(c.facts))
}

// restore gives a budget back to its author, keeping at least so many pods.
func (c *cluster) restore(ctx context.Context, pdb *policyv1.PodDisruptionBudget, least int) error {
	return c.giveBack(ctx, pdb, least, c.facts.Replicas)
}

// giveBack sets what the author asked for, and removes the record.
func (b *Budget) giveBack(ctx context.Context, pdb *policyv1.PodDisruptionBudget, least, replicas int) error {
	patch, err := budget.GiveBack(pdb, least, replicas, b.Clock.Now())
	if err != nil || patch == nil {
		return err
	}
	return b.patch(ctx, pdb, patch)
}

// releaseOrphans gives back the budgets that were kept for an owner that is
// gone, and removes those that were made for it. It says whether any is left, because it
// selects members that still run.
func (b *Budget) releaseOrphans(ctx context.Context, key observe.OwnerKey) (left bool, err error) {
	var all policyv1.PodDisruptionBudgetList
	if err := b.Reader.List(ctx, &all, client.InNamespace(key.Namespace)); err != nil {
		return false, fmt.Errorf("list budgets of %s: %w", key, err)
	}
	for i := range all.Items {
		pdb := &all.Items[i]
		if pdb.Annotations[v1alpha1.BudgetForAnnotation] != key.Ref() || pdb.DeletionTimestamp != nil {
			continue
		}
		runs, err := b.Reader.SelectsOrphan(ctx, pdb)
		if err != nil {
			return left, err
		}
		if runs {
			left = true
			continue
		}
		if err := b.giveBackOrDelete(ctx, pdb); client.IgnoreNotFound(err) != nil {
			return left, err
		}
	}
	return left, nil
}

// giveBackOrDelete ends what we do to a budget without an owner. A copy of one that we
// made says so as well, and is somebody's own.
func (b *Budget) giveBackOrDelete(ctx context.Context, pdb *policyv1.PodDisruptionBudget) error {
	if observe.Original(pdb) {
		return b.delete(ctx, pdb)
	}
	return b.giveBack(ctx, pdb, 0, 0)
}
