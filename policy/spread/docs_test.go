// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	selectors := []string{"SP-27", "SP-28", "SP-29"} // TestTermSelector of internal/observe
	policytest.Rows(t, selectors, spreadRows)
	policytest.Reasons(t, Reasons())
}
