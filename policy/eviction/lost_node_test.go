// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestLostNodesOnlyTighten compares the verdict of each state of up to five members with that of the same state, but for
// the nodes that are lost: it allows nothing else, records no less, and takes no quorum for lost that may be there.
func TestLostNodesOnlyTighten(t *testing.T) {
	t.Parallel()
	compared := 0
	policytest.LostNodes(5, func(members string, before, lost policy.Cluster) {
		for i, m := range before.Members {
			for _, f := range []Facts{
				{},
				{UnderWay: []UnderWay{{Pod: before.Members[(i+1)%len(before.Members)].Pod}}},
				{Removed: []string{before.Members[(i+1)%len(before.Members)].Pod}},
			} {
				for _, stale := range []bool{false, true} {
					f.Cluster, f.Pod = before, m.Pod
					f.Cluster.Stale = stale
					was := Evaluate(f)
					f.Cluster = lost
					f.Cluster.Stale = stale
					is := Evaluate(f)
					if is.Allowed && (!was.Allowed || was.Record && !is.Record) || is.Lost && !was.Lost {
						t.Fatalf("%s, %s: %+v, and without lost nodes %+v", members, m.Pod, is, was)
					}
					compared++
				}
			}
		}
	})
	if compared < 100_000 {
		t.Errorf("only %d states were compared", compared)
	}
}
