// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	rule "github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// settleTime is how long no budget may have a record. A write that the program sent before it
// lost its permissions arrives within this time.
const settleTime = time.Second

// restoreBudgets restores budgets until none has a record, but those of the namespaces that stay. A failure for one
// budget doesn't stop the others.
func (u *Uninstaller) restoreBudgets(ctx context.Context, stay []string) error {
	for clean := false; ; {
		held, err := heldBudgets(ctx, u.Kube)
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(pdb policyv1.PodDisruptionBudget) bool { return slices.Contains(stay, pdb.Namespace) })
		if len(held) == 0 && clean {
			return nil
		}
		clean = len(held) == 0
		var failed []error
		for i := range held {
			if err := u.restoreHeldBudget(ctx, &held[i]); err != nil {
				failed = append(failed, err)
			}
		}
		if len(failed) > 0 {
			return errors.Join(failed...)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("restore the budgets: %w", context.Cause(ctx))
		case <-u.Clock.After(settleTime):
		}
	}
}

// restoreHeldBudget restores a budget, and logs what it is then.
func (u *Uninstaller) restoreHeldBudget(ctx context.Context, pdb *policyv1.PodDisruptionBudget) error {
	restored, err := retryRestore(ctx, u.Kube, fmt.Sprintf("budget %s/%s", pdb.Namespace, pdb.Name), pdb, func() error { return u.restoreBudget(ctx, pdb, false) })
	switch {
	case !restored:
		return err
	case observe.NotCopied(pdb):
		u.Logf("Budget %s/%s is deleted", pdb.Namespace, pdb.Name)
		return nil
	}
	var after policyv1.PodDisruptionBudget
	if err := u.Kube.Get(ctx, client.ObjectKeyFromObject(pdb), &after); err != nil {
		return client.IgnoreNotFound(err)
	}
	value, _ := annotation.ValueOf(after.Name, &after.Spec)
	u.Logf("Budget %s/%s is restored: %s", pdb.Namespace, pdb.Name, value)
	return nil
}

// restoreBudget deletes a budget that etcd-webhook created, but not a copy of it. It restores
// any other budget to its author's value, but not below the quorum of its cluster.
func (u *Uninstaller) restoreBudget(ctx context.Context, budget *policyv1.PodDisruptionBudget, dry dryRun) error {
	if observe.NotCopied(budget) {
		if err := u.Kube.Delete(ctx, budget.DeepCopy(), client.Preconditions{UID: &budget.UID}, dry); err != nil {
			return fmt.Errorf("delete budget %s/%s: %w", budget.Namespace, budget.Name, err)
		}
		return nil
	}
	least, replicas, err := u.minAvailable(ctx, budget)
	if err != nil {
		return fmt.Errorf("restore budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	patch, err := pdb.Restore(budget, least, replicas, u.Clock.Now())
	if err != nil || patch == nil {
		return err
	}
	if err := u.Kube.Patch(ctx, budget.DeepCopy(), patch, dry); err != nil {
		return fmt.Errorf("restore budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	return nil
}

// minAvailable returns how many replicas the budget must keep, and the number of replicas. Both
// are 0 if it selects no cluster's members. The cluster that the budget was kept for may be part of
// another one now, or no longer be.
func (u *Uninstaller) minAvailable(ctx context.Context, budget *policyv1.PodDisruptionBudget) (least, replicas int, err error) {
	owners, err := u.Reader.OwnersOfBudget(ctx, budget)
	if err != nil || len(owners) == 0 {
		return 0, 0, err
	}
	owner := owners[0]
	for _, o := range owners {
		if o.RefersTo(budget.Annotations[v1alpha1.BudgetForAnnotation]) {
			owner = o
		}
	}
	facts, err := u.Reader.Facts(ctx, owner)
	if err != nil {
		return 0, 0, err
	}
	for i := range facts.Budgets.Others {
		if o := &facts.Budgets.Others[i]; o.Name == budget.Name {
			shared, err := u.Reader.SharedFacts(ctx, facts, o, nil)
			return rule.LeastShared(shared), o.Expected, err
		}
	}
	return pdb.MinAvailable(facts), max(facts.Replicas, facts.Cluster.Hibernated), nil
}
