// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// lostInRollout plays a rollout of n voters. A member restarts, and becomes Ready. Before the budget is
// decided again, clients evict what it admits, and the StatefulSet's controller stops the next member. It
// returns the number of members that could be evicted, and whether the quorum is lost.
func lostInRollout(n int, restarting bool) (evicted int, lost bool) {
	down := policytest.ClusterOf(strings.Repeat("v", n-1) + "x")
	down.Restarting = restarting
	v := Evaluate(Facts{Cluster: down, Current: policy.Quorum(n), Now: start}, settings)
	var m members
	m[wellV] = uint8(n)
	b := newBudget(m, 0, v.MinAvailable)
	for b.evict(wellV) {
		evicted++
	}
	left := b.pods
	left[wellV]--
	return evicted, !left.hasQuorum(n)
}

// TestBudgetInRollout checks that no eviction between two restarts of a rollout takes the quorum, and
// that the page has what would happen without the row.
func TestBudgetInRollout(t *testing.T) {
	t.Parallel()
	lines := []string{}
	for _, n := range []int{3, 4, 5, 7} {
		evicted, lost := lostInRollout(n, true)
		if evicted > 0 || lost {
			t.Errorf("%d members: %d can be evicted between two restarts", n, evicted)
		}
		evicted, lost = lostInRollout(n, false)
		lines = append(lines, fmt.Sprintf("| %d | %d | %s | 0 |", n, evicted, map[bool]string{true: "yes", false: "no"}[lost]))
	}
	policytest.Lines(t, lines)
}

// TestRestartingOnlyTightens checks in every state that a rollout never loosens a budget.
func TestRestartingOnlyTightens(t *testing.T) {
	t.Parallel()
	for size := 1; size <= 7; size++ {
		everyCluster(size, func(m members) {
			c := policytest.ClusterOf(m.String())
			without := Evaluate(Facts{Cluster: c, Current: -1, Now: start}, settings)
			c.Restarting = true
			with := Evaluate(Facts{Cluster: c, Current: -1, Now: start}, settings)
			if with.MinAvailable < without.MinAvailable || size > 1 && with.MinAvailable < size {
				t.Errorf("%s: minAvailable %d in a rollout, %d without", m, with.MinAvailable, without.MinAvailable)
			}
		})
	}
}
