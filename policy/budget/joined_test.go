// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// unnamed writes learners as what is seen of them where nothing names them: those that are ready joined a moment ago.
var unnamed = strings.NewReplacer("V", "j", "X", "x", "P", "p", "M", "m")

// TestBudgetKeepsQuorumBesideLearners holds over all clusters of up to six members of which nothing names the
// learners, and some may not be there yet: no sequence of evictions that the budget admits loses a quorum that was
// there. One voter may have joined as well, and have been promoted since.
func TestBudgetKeepsQuorumBesideLearners(t *testing.T) {
	t.Parallel()
	ready := 0
	for size := 2; size < largest; size++ {
		for missing := range size {
			everyCluster(size-missing, func(m members) {
				seen := unnamed.Replace(m.String()) + strings.Repeat("-", missing)
				for _, seen := range []string{seen, strings.Replace(seen, "v", "j", 1)} {
					v := Evaluate(Facts{Cluster: policytest.ClusterOf(seen), Current: -1, Now: start}, settings)
					ready += policytest.ToInt(m[wellL] > 0)
					for voters := m.voters(); voters <= m.voters()+missing; voters++ {
						if left, lost := newBudget(m, 0, v.MinAvailable).losesQuorum(voters); lost {
							t.Errorf("%s, seen as %s: minAvailable %d for %s leaves %q of %d voters", m, seen, v.MinAvailable, v.Reason, left, voters)
						}
					}
				}
			})
		}
	}
	if ready < 500 {
		t.Errorf("only %d states have a learner that is ready", ready)
	}
}
