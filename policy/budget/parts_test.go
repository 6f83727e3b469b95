// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestPartsKeepTheWhole splits clusters of up to nine members in all ways into parts of which none knows
// the others. B-41: what the budgets of the parts keep together is a quorum of the whole.
func TestPartsKeepTheWhole(t *testing.T) {
	t.Parallel()
	keeps := func(members int) int {
		c := policytest.ClusterOf(strings.Repeat("v", members))
		if members == 1 {
			c.SizeUnknown = "Secret tuning is not read"
		}
		return Evaluate(Facts{Cluster: c, Current: -1, Now: start}, settings).MinAvailable
	}
	var split func(whole, rest, largest, kept int)
	split = func(whole, rest, largest, kept int) {
		if rest == 0 && kept < policy.Quorum(whole) {
			t.Errorf("the parts of %d members keep %d", whole, kept)
		}
		for part := 1; part <= min(rest, largest); part++ {
			split(whole, rest-part, part, kept+keeps(part))
		}
	}
	for whole := 1; whole <= 9; whole++ {
		split(whole, whole, whole, 0)
	}
}

// TestUnknownSizeHolds checks that nothing that stands is loosened while the size is not known.
func TestUnknownSizeHolds(t *testing.T) {
	t.Parallel()
	c := policytest.ClusterOf("v")
	c.SizeUnknown = "Secret tuning is not read"
	v := Evaluate(Facts{Cluster: c, Current: 3, Floor: 2, Now: start}, settings)
	if v.MinAvailable != 3 || v.Target != 2 || !strings.Contains(v.Message, c.SizeUnknown) || !strings.Contains(v.Message, c.DeclareListed()) {
		t.Errorf("B-41: minAvailable %d of %d: %s", v.MinAvailable, v.Target, v.Message)
	}
}
