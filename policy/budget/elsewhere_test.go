// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestMembersElsewhere checks that members of which nothing is known count as down, and that a
// note reports them.
func TestMembersElsewhere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		members   string
		elsewhere int
		want      int
	}{
		{"v--", 2, 3},   // no cluster of one
		{"vv-", 1, 2},   // both are the quorum
		{"vvvv-", 1, 4}, // one could go, but it is not known whether the fifth is there
	} {
		f := Facts{Cluster: policytest.ClusterOf(row.members), Current: -1, Now: start}
		f.Cluster.Elsewhere = row.elsewhere
		v := Evaluate(f, settings)
		if v.Target != row.want || !strings.Contains(policytest.ReasonsOf(v.Notes), MembersElsewhere.Name()) {
			t.Errorf("B-39 %s: minAvailable %d, want %d, notes %v", row.members, v.Target, row.want, v.Notes)
		}
	}
}
