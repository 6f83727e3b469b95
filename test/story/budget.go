// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// budgetNow is the current state of a cluster's PodDisruptionBudget.
type budgetNow struct {
	min     int
	reason  string
	allowed int32
	healthy int32
}

func (b budgetNow) String() string {
	return fmt.Sprintf("minAvailable %d (%s), %d healthy, %d may be evicted", b.min, orDash(b.reason), b.healthy, b.allowed)
}

func (w *World) budget(ctx context.Context, c *clusters.Cluster) (budgetNow, error) {
	var pdb policyv1.PodDisruptionBudget
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name}, &pdb); err != nil {
		return budgetNow{}, fmt.Errorf("read budget of %s: %w", c, err)
	}
	b := budgetNow{
		min:     -1,
		reason:  pdb.Annotations[v1alpha1.BudgetReasonAnnotation],
		allowed: pdb.Status.DisruptionsAllowed,
		healthy: pdb.Status.CurrentHealthy,
	}
	if pdb.Spec.MinAvailable != nil {
		b.min = pdb.Spec.MinAvailable.IntValue()
	}
	return b, nil
}

// awaitBudget waits until the budget has the value for one of the reasons, prints it, and
// returns how long this took.
func (w *World) awaitBudget(ctx context.Context, c *clusters.Cluster, minAvailable int, reasons ...string) (time.Duration, error) {
	start := time.Now() //nolint:forbidigo // it measures what a person would wait
	var last budgetNow
	what := fmt.Sprintf("minAvailable %d %v of %s", minAvailable, reasons, c)
	err := clusters.Await(ctx, limit, what, func(ctx context.Context) (string, bool, error) {
		b, err := w.budget(ctx, c)
		if err != nil {
			return "", false, err
		}
		last = b
		return b.String(), b.min == minAvailable && (len(reasons) == 0 || slices.Contains(reasons, b.reason)), nil
	})
	took := time.Since(start)
	if err == nil {
		w.Report("budget %s: %s", c, last)
	}
	return took, err
}
