// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestLostNodesOnlyTighten compares the number of each state of up to five members with that of the same state, but for
// the nodes that are lost.
func TestLostNodesOnlyTighten(t *testing.T) {
	t.Parallel()
	compared := 0
	policytest.LostNodes(5, func(members string, before, lost policy.Cluster) {
		for _, change := range []func(*policy.Cluster){
			func(*policy.Cluster) {},
			func(c *policy.Cluster) { c.Stale = true },
			func(c *policy.Cluster) { c.Restarting = true },
			func(c *policy.Cluster) { c.BackupReady.Status = policy.False },
			func(c *policy.Cluster) { c.AllMembersReady.Status = policy.False },
		} {
			was, is := before, lost
			change(&was)
			change(&is)
			for _, current := range []int{-1, 3, 5} {
				f := Facts{Cluster: was, Current: current, Now: time.Unix(1e9, 0)}
				want := Evaluate(f, Settings{})
				f.Cluster = is
				if got := Evaluate(f, Settings{}); got.Target < want.Target || got.MinAvailable < want.MinAvailable {
					t.Fatalf("%s: minAvailable %d of %d (%s), and without lost nodes %d (%s)", members, got.MinAvailable, current, got.Message, want.MinAvailable, want.Message)
				}
				compared++
			}
		}
	})
	if compared < 50_000 {
		t.Errorf("only %d states were compared", compared)
	}
}
