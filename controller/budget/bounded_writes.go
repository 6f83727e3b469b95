// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Anyone who may create budgets can have thousands of them select a cluster's members, or name the cluster in
// their records. One reconciliation writes so many of those that don't protect the cluster alone, and the next
// one the next of them.
const (
	othersAtOnce = 20
	moreWait     = 100 * time.Millisecond
)

// wroteEnough reports whether this reconciliation has written enough. What is left is done in the next one.
func (c *cluster) wroteEnough() bool {
	if c.wrote < othersAtOnce {
		return false
	}
	c.waits = append(c.waits, moreWait)
	return true
}

// patch writes a budget and counts the write.
func (c *cluster) patch(ctx context.Context, budget *policyv1.PodDisruptionBudget, patch client.Patch) error {
	c.wrote++
	err := c.Reconciler.patch(ctx, budget, patch)
	if err == nil {
		c.written = append(c.written, budget.UID)
	}
	return err
}

// restore does what that of the Reconciler does, and counts the write. It reports whether there was one.
func (c *cluster) restore(ctx context.Context, budget *policyv1.PodDisruptionBudget, minAvailable, replicas int) (restored bool, err error) {
	restored, err = c.Reconciler.restore(ctx, budget, minAvailable, replicas)
	if restored {
		c.wrote++
		c.written = append(c.written, budget.UID)
	}
	return restored, err
}
