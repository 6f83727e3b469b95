// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/pdb"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// create creates the budget of a cluster that has none. The cache may lack a budget
// that was just created, so the budgets are first read from the API server.
func (c *cluster) create(ctx context.Context) error {
	if c.Reader.Live != nil {
		live := &observe.Reader{Reader: c.Reader.Live, Leases: c.Reader.Leases}
		budgets, err := live.Budgets(ctx, c.owner)
		if err != nil {
			return err
		}
		if budgets.Problem == nil || budgets.Problem.Reason != reasons.NoBudget {
			return apierrors.NewConflict(policyv1.Resource("poddisruptionbudgets"), c.owner.Name, fmt.Errorf("another budget has just been created"))
		}
	}
	budget := c.newBudget()
	err := c.Client.Create(ctx, budget, write.FieldOwner)
	switch {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("budget %s/%s exists and does not select the members; delete it, or change its selector: %w", budget.Namespace, budget.Name, err)
	case err != nil:
		return fmt.Errorf("create budget %s/%s: %w", budget.Namespace, budget.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	c.record(budget, normal, policy.Note{Reason: reasons.BudgetCreated, Message: fmt.Sprintf("created budget %s: %s", budget.Name, c.verdict.Message)}, actionKeep)
	return nil
}

// quorumBudget returns the name of the budget that this controller creates. Operators
// don't use this name: some of them delete the budget that has the name they use.
func (c *cluster) quorumBudget() string { return c.owner.StatefulSet + "-quorum" }

// budgetOwners returns the owners of a budget that is created for the cluster: its owner, or all
// workloads of a cluster that spans several. It is deleted with the last of them, and doesn't
// delay the deletion of any.
func (c *cluster) budgetOwners() []metav1.OwnerReference {
	owner := metav1.OwnerReference{APIVersion: c.owner.APIVersion, Kind: c.owner.Kind, Name: c.owner.Name, UID: c.owner.UID}
	if !c.owner.Spans() {
		return []metav1.OwnerReference{owner}
	}
	var owners []metav1.OwnerReference
	for _, w := range c.owner.Workloads {
		owner.Name, owner.UID = w.Name, w.UID
		owners = append(owners, owner)
	}
	return owners
}

// reselect gives the budget that this controller created the selector of the cluster, if workloads
// have joined or left since, or another client has changed the selector.
func (c *cluster) reselect(ctx context.Context) error {
	if c.facts.Budgets.Outdated == nil {
		return nil
	}
	return c.selectMembers(ctx, c.facts.Budgets.Managed.PodDisruptionBudget)
}

// reselectHeld is reselect for one that is held beside a budget of another author.
func (c *cluster) reselectHeld(ctx context.Context, ours *policyv1.PodDisruptionBudget) error {
	if !observe.NotCopied(ours) || equality.Semantic.DeepEqual(ours.Spec.Selector, c.owner.MemberSelector) {
		return nil
	}
	return c.selectMembers(ctx, ours)
}

// selectMembers gives a budget the selector of the cluster. One that is changed again and again is left for a while, unless
// the facts got worse.
func (c *cluster) selectMembers(ctx context.Context, kept *policyv1.PodDisruptionBudget) error {
	if kept.DeletionTimestamp != nil {
		return nil
	}
	if wait, written := c.reselections.backoff(c.owner.Key(), c.facts.At); wait > 0 && !c.severity().worseThan(written) {
		c.problem, c.waits = resetNote(kept.Name), append(c.waits, wait)
		return nil
	}
	patch, err := pdb.Reselect(kept, c.owner.MemberSelector, c.budgetOwners())
	if err != nil {
		return err
	}
	if err := c.patch(ctx, kept, patch); err != nil {
		return err
	}
	c.reselections.wroteSelector(c.owner.Key(), c.owner.MemberSelector, c.severity(), c.facts.At)
	c.record(kept, normal, policy.NewNote(reasons.BudgetReselected, "budget %s selects the members of %s now", kept.Name, c.owner), actionKeep)
	return nil
}

// newBudget returns the budget for a cluster that has none.
func (c *cluster) newBudget() *policyv1.PodDisruptionBudget {
	v := c.verdict
	value := annotation.BudgetValue{Field: annotation.MinAvailable, N: v.Target}
	record := annotation.BudgetRecord{For: c.owner.Ref(), Made: c.owner.Namespace + "/" + c.quorumBudget(), Value: &value, Reason: v.Reason.Name(), State: v.State, Size: c.facts.Largest}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       c.owner.Namespace,
			Name:            c.quorumBudget(),
			Labels:          map[string]string{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController},
			Annotations:     record.Encode(),
			OwnerReferences: c.budgetOwners(),
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt(value.N)),
			Selector:     c.owner.MemberSelector.DeepCopy(),
		},
	}
}
