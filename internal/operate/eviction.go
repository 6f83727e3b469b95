// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// SeveralBudgets reports whether an eviction failed because several budgets select the pod. The API server
// has no reason for it, only a text. It fails for as long as they do.
func SeveralBudgets(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "PodDisruptionBudget")
}
