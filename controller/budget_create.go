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
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// create makes a budget where there is none. The cache may not have heard of
// one that was just made, so it asks the API server itself first.
func (c *cluster) create(ctx context.Context) error {
	if c.Reader.Live != nil {
		live := &observe.Reader{Reader: c.Reader.Live, Leases: c.Reader.Leases}
		budgets, err := live.Budgets(ctx, c.owner)
		if err != nil {
			return err
		}
		if budgets.Problem == nil || budgets.Problem.Reason != observe.NoBudget {
			return apierrors.NewConflict(policyv1.Resource("poddisruptionbudgets"), c.owner.Name, fmt.Errorf("another budget has just been made"))
		}
	}
	pdb := c.missing()
	err := c.Client.Create(ctx, pdb, FieldOwner)
	switch {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("budget %s/%s is there and does not select the members: delete it, or have it select them: %w", pdb.Namespace, pdb.Name, err)
	case err != nil:
		return fmt.Errorf("create budget %s/%s: %w", pdb.Namespace, pdb.Name, err)
	}
	writes.WithLabelValues(resultWritten).Inc()
	c.inform(policy.Note{Reason: "BudgetCreated", Message: fmt.Sprintf("budget %s: %s", pdb.Name, c.verdict.Message)}, actionKeep)
	return nil
}

// quorumBudget is the name of the budget that is made. It is none that an operator would
// give, since some delete the budget of the name they use.
func (c *cluster) quorumBudget() string { return c.owner.StatefulSet + "-quorum" }

// missing is the budget of a cluster that has none. It goes with its owner, whose
// deletion it doesn't hold up.
func (c *cluster) missing() *policyv1.PodDisruptionBudget {
	v := c.verdict
	value := observe.BudgetValue{Field: observe.MinAvailable, N: v.Target}
	record := observe.BudgetRecord{For: c.owner.Ref(), Made: c.owner.Namespace + "/" + c.quorumBudget(), Value: &value, Reason: v.Reason, State: v.State}
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
