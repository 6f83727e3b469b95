// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	rule "github.com/kubectl-etcd/kubectl-etcd/policy/budget"
)

// settleTime is for how long no budget must be held: a write that the program had
// sent before it lost its rights has arrived by then.
const settleTime = time.Second

// restoreBudgets gives budgets back until none is held any more. One that can't be
// given back keeps no other from it.
func (u *Uninstall) restoreBudgets(ctx context.Context) error {
	for clean := false; ; {
		held, err := heldBudgets(ctx, u.Kube)
		if err != nil {
			return err
		}
		if len(held) == 0 && clean {
			return nil
		}
		clean = len(held) == 0
		var failed []error
		for i := range held {
			if err := u.retryRestoreBudget(ctx, &held[i]); err != nil {
				failed = append(failed, err)
			}
		}
		if len(failed) > 0 {
			return errors.Join(failed...)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("give the budgets back: %w", context.Cause(ctx))
		case <-u.Clock.After(settleTime):
		}
	}
}

// retryRestoreBudget is restoreBudget, again when somebody else wrote the budget meanwhile.
func (u *Uninstall) retryRestoreBudget(ctx context.Context, pdb *policyv1.PodDisruptionBudget) error {
	for range 10 {
		err := u.restoreBudget(ctx, pdb, false)
		switch {
		case err == nil && observe.Original(pdb):
			u.Logf("Budget %s/%s is deleted", pdb.Namespace, pdb.Name)
			return nil
		case err == nil:
			var after policyv1.PodDisruptionBudget
			if err := u.Kube.Get(ctx, client.ObjectKeyFromObject(pdb), &after); err != nil {
				return client.IgnoreNotFound(err)
			}
			value, _ := observe.ValueOf(after.Name, &after.Spec)
			u.Logf("Budget %s/%s is its author's again: %s", pdb.Namespace, pdb.Name, value)
			return nil
		case apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsConflict(err):
			return err
		}
		if err := u.Kube.Get(ctx, client.ObjectKeyFromObject(pdb), pdb); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return fmt.Errorf("give budget %s/%s back: somebody writes it all the time", pdb.Namespace, pdb.Name)
}

// restoreBudget deletes a budget that we made, but no copy of it, and has any other say what its author
// asked for, but nothing below the quorum of the cluster that it is for.
func (u *Uninstall) restoreBudget(ctx context.Context, budget *policyv1.PodDisruptionBudget, dry dryRun) error {
	if observe.Original(budget) {
		if err := u.Kube.Delete(ctx, budget.DeepCopy(), client.Preconditions{UID: &budget.UID}, dry); err != nil {
			return fmt.Errorf("delete budget %s/%s: %w", budget.Namespace, budget.Name, err)
		}
		return nil
	}
	least, replicas, err := u.minAvailable(ctx, budget)
	if err != nil {
		return fmt.Errorf("give budget %s/%s back: %w", budget.Namespace, budget.Name, err)
	}
	patch, err := pdb.Restore(budget, least, replicas, u.Clock.Now())
	if err != nil || patch == nil {
		return err
	}
	if err := u.Kube.Patch(ctx, budget.DeepCopy(), patch, dry); err != nil {
		return fmt.Errorf("give budget %s/%s back: %w", budget.Namespace, budget.Name, err)
	}
	return nil
}

// minAvailable is what the budget must keep of how many replicas; nothing where its
// cluster is gone.
func (u *Uninstall) minAvailable(ctx context.Context, budget *policyv1.PodDisruptionBudget) (least, replicas int, err error) {
	kind, name, _ := strings.Cut(budget.Annotations[v1alpha1.BudgetForAnnotation], "/")
	owner, found, err := u.Reader.Owner(ctx, observe.OwnerKey{Kind: kind, Namespace: budget.Namespace, Name: name})
	if err != nil || !found {
		return 0, 0, err
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
	return pdb.MinAvailable(facts), facts.Replicas, nil
}
