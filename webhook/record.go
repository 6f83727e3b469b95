// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// recordTries is how often a request is decided again because other clients wrote the budget.
const recordTries = 5

// recordedDecision is a request that holds only if the members that leave by it are recorded.
type recordedDecision struct {
	// decide returns the decision, and whether it needs the record.
	decide func() (d Decision, record bool)
	// leaving returns the budget that has the record, and the text of the record.
	leaving func() (*policyv1.PodDisruptionBudget, string)
	// reread reads the budget again, and nothing else.
	reread func() error
}

// busyError is why a decision could not be recorded: other clients write the budget all the time, or what
// they wrote can't be read. What they wrote may be an eviction, so the request must not be admitted.
type busyError struct{ why string }

func (e *busyError) Error() string { return e.why }

// make decides and records. It returns a *busyError, or why the API server denies the record.
func (r recordedDecision) make(ctx context.Context, budgets BudgetPatcher) (Decision, error) {
	for range recordTries {
		d, record := r.decide()
		if !record {
			return d, nil
		}
		budget, text := r.leaving()
		err := recordLeaving(ctx, budgets, budget, text)
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return d, err
		}
		if err := r.reread(); err != nil {
			return d, &busyError{"since the budget can't be read again: " + err.Error()}
		}
	}
	return Decision{}, &busyError{fmt.Sprintf("in %d tries", recordTries)}
}

// recordLeaving writes the text of the evictions annotation on a budget, if the budget is still as it
// was read.
func recordLeaving(ctx context.Context, budgets BudgetPatcher, pdb *policyv1.PodDisruptionBudget, text string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pdb.UID, "resourceVersion": pdb.ResourceVersion,
		"annotations": map[string]string{v1alpha1.EvictionsAnnotation: text},
	}})
	if err != nil {
		return err
	}
	target := &policyv1.PodDisruptionBudget{}
	target.Namespace, target.Name = pdb.Namespace, pdb.Name
	return budgets.Patch(ctx, target, client.RawPatch(types.MergePatchType, body))
}
