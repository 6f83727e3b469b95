// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"strings"
	"testing"
)

// TestSpreadFromNoNode admits members while there is no node. An autoscaler then adds nodes one by one, for a
// member that waits, in any zone of its pool where that member could run. It always finds such a zone, and
// no two members share a node.
func TestSpreadFromNoNode(t *testing.T) {
	t.Parallel()
	ends := 0
	for _, pool := range []string{"a", "ab", "abc"} {
		for size := 2; size <= 5; size++ {
			for _, s := range []Settings{
				{Topology: TopologyZone}, {Topology: TopologyZone, Form: FormAntiAffinity}, {Topology: TopologyAuto}, {Topology: TopologyHostname},
			} {
				sched := newScheduler(nil, Facts{Size: size}, s)
				for i := range sched.pods {
					sched.pods[i].nodes = slices.Repeat([]bool{true}, size+1)
				}
				sched.scaleUp(pool, slices.Repeat([]int{away}, size), func(at []int) {
					ends++
					nodes := slices.Sorted(slices.Values(at))
					if nodes[0] == away || len(slices.Compact(nodes)) < size {
						t.Errorf("%d members, pool %s, %s %s: end at %v", size, pool, s.Topology, s.Form, at)
					}
				})
			}
		}
	}
	t.Logf("%d ends", ends)
	if ends < 1000 {
		t.Error("the state space has shrunk")
	}
}

// scaleUp schedules the members in order, on every node that admits them and on every new one, and calls
// end with the nodes of all, or of those before one that finds none.
func (s scheduler) scaleUp(pool string, at []int, end func(at []int)) {
	i := slices.Index(at, away)
	if i < 0 {
		end(at)
		return
	}
	found := false
	for zone := range strings.SplitSeq(" "+pool, "") {
		more := s
		if zone != " " {
			more.zones = append(slices.Clone(s.zones), zone)
			if !slices.Contains(s.domains, zone) {
				more.domains = append(slices.Clone(s.domains), zone)
			}
		}
		for node := range more.zones {
			if added := zone != " "; added == (node == len(s.zones)) && more.admits(i, node, at) {
				found = true
				next := slices.Clone(at)
				next[i] = node
				more.scaleUp(pool, next, end)
			}
		}
	}
	if !found {
		end(at)
	}
}
