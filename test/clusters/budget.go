// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AwaitMin waits until the budget that etcd-webhook manages for the cluster has this
// minAvailable for this reason. An empty reason matches any. It returns the budget.
func (c *Cluster) AwaitMin(ctx context.Context, limit time.Duration, want int, reason string) (*policyv1.PodDisruptionBudget, error) {
	var found policyv1.PodDisruptionBudget
	what := fmt.Sprintf("minAvailable %d (%s) of %s", want, reason, c)
	err := Await(ctx, limit, what, func(ctx context.Context) (string, bool, error) {
		var list policyv1.PodDisruptionBudgetList
		if err := c.kube.List(ctx, &list, client.InNamespace(c.Namespace)); err != nil {
			return "", false, err
		}
		i := slices.IndexFunc(list.Items, func(b policyv1.PodDisruptionBudget) bool {
			return strings.HasSuffix(b.Annotations[v1alpha1.BudgetForAnnotation], "/"+c.Full())
		})
		if i < 0 {
			return fmt.Sprintf("none for it among %d budgets", len(list.Items)), false, nil
		}
		found = list.Items[i]
		got := found.Spec.MinAvailable
		if got == nil {
			return fmt.Sprintf("no minAvailable: %+v", found.Spec), false, nil
		}
		why := found.Annotations[v1alpha1.BudgetReasonAnnotation]
		return fmt.Sprintf("minAvailable %s (%s)", got, why), got.IntValue() == want && (reason == "" || why == reason), nil
	})
	return &found, err
}
