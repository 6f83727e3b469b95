// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	policytest.Rows(t, nil, claimRows, stepRows)
	policytest.Reasons(t, Reasons())
}
