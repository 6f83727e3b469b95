// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestLostNodesRestartNothing compares the step of each state of up to four members with that of the same state, but for
// the nodes that are lost. A step that holds also holds then, and no pod restarts because of its node.
func TestLostNodesRestartNothing(t *testing.T) {
	t.Parallel()
	compared := 0
	for n, count := 2, len(states); n <= 4; n++ {
		count *= len(states)
		for code := range count {
			members, templates := "", ""
			for rest := code; len(members) < n; rest /= len(states) {
				members, templates = members+states[rest%len(states)][:1], templates+states[rest%len(states)][1:]
			}
			for _, change := range []func(*Facts){func(*Facts) {}, late, peersMove, onDelete, inOrder, justNow, inTwoSets} {
				f := with(of(members, templates, n), change)
				was := Evaluate(f, settings)
				for nodes := range 1 << n {
					lost := with(of(members, templates, n), change, lose(nodes))
					is := Evaluate(lost, settings)
					if was.Act == Hold && is.Act != Hold || is.Act == Restart && lost.Cluster.Members[ordinal(lost, is.Pod)].NodeLost != "" {
						t.Fatalf("members %s, templates %s, lost nodes %b: %s (%s), and without lost nodes %s (%s)", members, templates, nodes, text(is), is.Message, text(was), was.Message)
					}
					compared++
				}
			}
		}
	}
	if compared < 1_000_000 {
		t.Errorf("only %d steps were compared", compared)
	}
}

// lose has the nodes of members be lost: a set of bits.
func lose(nodes int) func(*Facts) {
	return func(f *Facts) {
		f.Cluster = policytest.Lose(f.Cluster, nodes)
		for s := range f.Sets {
			for i := range f.Sets[s].Pods {
				p := &f.Sets[s].Pods[i]
				for _, m := range f.Cluster.Members {
					if m.Pod == p.Pod && m.NodeLost != "" {
						p.NodeLost, p.MayRun, p.Ready, p.JustReady, p.Young = m.NodeLost, m.MayRun, false, false, false
					}
				}
			}
		}
	}
}

// inTwoSets has two StatefulSets run the members, and a user release the rollout of both. The last step was just now.
func inTwoSets(f *Facts) {
	f.Reason, f.Since = "by hand", time.Second
	half := len(f.Sets[0].Pods) / 2
	second := f.Sets[0]
	second.Name, second.Pods = "other", second.Pods[half:]
	f.Sets[0].Pods = f.Sets[0].Pods[:half]
	for i := range f.Sets {
		if f.Sets[i].Value.Partition > len(f.Sets[i].Pods) {
			f.Sets[i].Value.Partition = len(f.Sets[i].Pods)
		}
	}
	f.Sets = append(f.Sets, second)
	f.Sets[1].Value.Partition = len(second.Pods)
}

func ordinal(f Facts, pod string) int {
	for i, m := range f.Cluster.Members {
		if m.Pod == pod {
			return i
		}
	}
	return -1
}
