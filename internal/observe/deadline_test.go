// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBudgetsEndWithTheRequest checks that no budget is judged after the deadline of a request: the cache
// answers all the same.
func TestBudgetsEndWithTheRequest(t *testing.T) {
	t.Parallel()
	c := factsCase{Base: "plain-3", Owner: "StatefulSet/etcd"}
	r, owner := c.reader(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Budgets(ctx, owner); !errors.Is(err, context.Canceled) {
		t.Errorf("Budgets: %v", err)
	}
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace}}
	if _, err := r.OwnersOfBudget(ctx, pdb); !errors.Is(err, context.Canceled) {
		t.Errorf("OwnersOfBudget: %v", err)
	}
}
