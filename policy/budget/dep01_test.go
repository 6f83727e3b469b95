// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// readings are the possible meanings of DEP-01 for minAvailable, and what
// etcd-druid does today. n counts all members, ready those with status Ready.
var readings = []struct {
	name         string
	loses        bool
	minAvailable func(n, ready int) int
}{
	{
		"floor(n/2) while AllMembersReady, else the number of Ready members", true,
		func(n, ready int) int {
			if ready == n {
				return n / 2
			}
			return ready
		},
	},
	{
		"floor(n/2) + 1 while AllMembersReady, else the number of Ready members", true,
		func(n, ready int) int {
			if ready == n {
				return n/2 + 1
			}
			return ready
		},
	},
	{
		"the highest: floor(n/2) + 1, and the number of Ready members unless AllMembersReady", true,
		func(n, ready int) int {
			if ready == n {
				return n/2 + 1
			}
			return max(n/2+1, ready)
		},
	},
	{
		"floor(n/2) + 1 always, as etcd-druid has it now", true,
		func(n, _ int) int { return n/2 + 1 },
	},
	{
		"floor(n/2) + 1 while AllMembersReady, else no eviction of any member pod", false,
		func(n, ready int) int {
			if ready == n {
				return n/2 + 1
			}
			return n
		},
	},
}

// TestDEP01 runs the readings in the model that the rule is held to, over all
// clusters of two to seven voters, with true facts.
func TestDEP01(t *testing.T) {
	t.Parallel()
	var table []string
	for _, r := range readings {
		losing, stuck, states := 0, 0, 0
		example := "none"
		everyVoterCluster(func(m members, n int) {
			states++
			b := newBudget(m, 0, r.minAvailable(n, int(m[wellV]+m[memberOnlyV])))
			if m[downV] > 0 && safe(m, 0) && !b.admits(downV) {
				stuck++
			}
			left, lost := b.losesQuorum(n)
			if lost && n == 3 {
				example = fmt.Sprintf("`%s` at %d: `%s` is left", m, b.desired, left)
			}
			losing += policytest.ToInt(lost)
		})
		if (losing > 0) != r.loses || !r.loses && stuck == 0 {
			t.Errorf("%s: loses quorum in %d states, leaves the sick pod stuck in %d", r.name, losing, stuck)
		}
		table = append(table, fmt.Sprintf("| %s | %d of %d | %s | %d |", r.name, losing, states, example, stuck))
	}
	ours := 0
	everyVoterCluster(func(m members, n int) {
		v := Evaluate(Facts{Cluster: policytest.ClusterOf(m.String()), Current: -1, Now: start}, settings)
		b := newBudget(m, 0, v.MinAvailable)
		_, lost := b.losesQuorum(n)
		ours += policytest.ToInt(lost) + policytest.ToInt(m[downV] > 0 && safe(m, 0) && !b.admits(downV))
	})
	if ours > 0 {
		t.Errorf("the rule itself fails in %d states", ours)
	}
	policytest.Lines(t, table)
}

func everyVoterCluster(f func(m members, n int)) {
	for n := 2; n <= largest; n++ {
		everyCluster(n, func(m members) {
			if m.voters() == n {
				f(m, n)
			}
		})
	}
}
