// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
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
	err := c.Client.Create(ctx, budget, FieldOwner)
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

// newBudget returns the budget for a cluster that has none. It is deleted with its owner,
// and doesn't delay the owner's deletion.
func (c *cluster) newBudget() *policyv1.PodDisruptionBudget {
	v := c.verdict
	value := annotation.BudgetValue{Field: annotation.MinAvailable, N: v.Target}
	record := annotation.BudgetRecord{For: c.owner.Ref(), Made: c.owner.Namespace + "/" + c.quorumBudget(), Value: &value, Reason: v.Reason.Name(), State: v.State, Size: c.facts.Largest}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   c.owner.Namespace,
			Name:        c.quorumBudget(),
			Labels:      map[string]string{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController},
			Annotations: record.Encode(),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: c.owner.APIVersion, Kind: c.owner.Kind, Name: c.owner.Name, UID: c.owner.UID,
			}},
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt(value.N)),
			Selector:     c.owner.MemberSelector.DeepCopy(),
		},
	}
}
