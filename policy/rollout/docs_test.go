// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	policytest.Rows(t, nil, rolloutRows, endRows, removalRows)
	policytest.Reasons(t, Reasons())
}
