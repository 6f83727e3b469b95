// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestLostNodesRestartNothing compares the next step of each state of up to five members with that of the same state,
// but for the nodes that are lost. No member stops that might not, none stops beside a member on a lost node unless it
// is broken itself, and none is repaired because of its node. Without answers, as in etcd-webhook, a member is as ready
// as its pod or its lease shows. With answers, one on a lost node may be well.
func TestLostNodesRestartNothing(t *testing.T) {
	t.Parallel()
	compared := 0
	policytest.LostNodes(5, func(members string, before, lost policy.Cluster) {
		if strings.Contains(members, "-") {
			return
		}
		for _, answers := range []bool{false, true} {
			is := Next(factsOf(lost, before, answers))
			was := Stop(factsOf(before, before, answers), is.Pod)
			stops := is.Kind == Restart || is.Kind == MoveLeader
			if stops && was.Kind != Restart && was.Kind != MoveLeader {
				t.Fatalf("%s: %s, and without lost nodes %s", members, is.Message, was.Message)
			}
			one := slices.IndexFunc(lost.Members, func(m policy.Member) bool { return m.Pod == is.Pod })
			if stops && lost.Members[one].NodeLost != "" {
				t.Fatalf("%s: %s restarts because of its node: %s", members, is.Pod, is.Message)
			}
			compared++
		}
	})
	if compared < 10_000 {
		t.Errorf("only %d states were compared", compared)
	}
}

// factsOf returns the facts about a restart of all members of a cluster. With answers, they have those of the members of
// another one.
func factsOf(c, answering policy.Cluster, answers bool) Facts {
	f := Facts{Cluster: c, LeaderUnknown: true}
	for i, m := range c.Members {
		one := Member{Pod: m.Pod, Recorded: true, Exists: true, PodReady: m.PodReady && m.NodeLost == "", Learner: m.Learner, NodeLost: m.NodeLost}
		if ready := m.Ready || answers && answering.Members[i].Ready; !ready {
			one.Trouble = "its pod or its lease shows that it is not ready"
		}
		f.Members = append(f.Members, one)
	}
	return f
}

// TestLostNodeIsTheReason: a restart that waits for a node names it.
func TestLostNodeIsTheReason(t *testing.T) {
	t.Parallel()
	for _, lost := range []int{1, 2, 4} {
		c := policytest.Lose(policytest.ClusterOf("vvv"), lost)
		s := Next(factsOf(c, c, false))
		if why := strings.TrimPrefix(policy.NodesLost(c.Members), ": "); s.Kind != Blocked || !strings.Contains(s.Message, why) {
			t.Errorf("%+v, want one that is blocked by %q", s, why)
		}
	}
}
