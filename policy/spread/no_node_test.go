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
	for _, pool := range []string{"a", "ab", "abc", "."} {
		for size := 2; size <= 5; size++ {
			for _, s := range []Settings{
				{Topology: TopologyZone}, {Topology: TopologyZone, Form: FormAntiAffinity}, {Topology: TopologyAuto}, {Topology: TopologyHostname},
			} {
				// A pool without zone labels is in a cluster without any.
				sched := newScheduler(nil, Facts{Size: size, ClusterZones: len(strings.Trim(pool, "."))}, s)
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
			more.zones = append(slices.Clone(s.zones), strings.Trim(zone, "."))
			if zone != "." && !slices.Contains(s.domains, zone) {
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

// TestSpreadPoolReturns admits members with bound volumes while there is no node. The pool then returns with
// any nodes. A member whose volume has a node finds one, wherever the others run.
func TestSpreadPoolReturns(t *testing.T) {
	t.Parallel()
	starts := 0
	everyTopology(func(zones string) {
		at := nodesIn(zones)
		for _, layout := range []string{"a a a", "a a b", "a b b", "a b c", "a a a b c", "a1 a1 b1"} {
			f := Facts{ClusterZones: 3, Volumes: volumes(layout, at)}
			f.Size = len(f.Volumes)
			for _, s := range forms {
				sched := newScheduler(nil, f, s)
				back := newScheduler(at, f, s)
				for i := range sched.pods {
					sched.pods[i].nodes = back.pods[i].nodes
				}
				sched.zones, sched.domains = back.zones, back.domains
				sched.everyArrangement(func(on []int, _ int) {
					for i, node := range on {
						if node == away && slices.Contains(sched.pods[i].nodes, true) {
							starts++
							if !sched.finds(i, on) {
								t.Errorf("%s %s, volumes %s, nodes %s: at %v member %d finds no node", s.Topology, s.Form, layout, zones, on, i)
							}
						}
					}
				})
			}
		}
	})
	t.Logf("%d starts", starts)
	if starts < 1000 {
		t.Error("the state space has shrunk")
	}
}
