// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestSpreadFree lets members without volumes come and go in every order, on
// every node that the scheduler might choose, over every small topology. One
// that is away always finds a node; and where the zone is required there are
// never two in a zone, or, with more members than zones, never two more in one
// zone than in another once all run.
func TestSpreadFree(t *testing.T) {
	t.Parallel()
	states := 0
	everyTopology(func(zones string) {
		for size := 2; size <= 5; size++ {
			for _, s := range []Settings{
				{Topology: TopologyZone}, {Topology: TopologyZone, Form: FormAntiAffinity}, {Topology: TopologyHostname},
			} {
				sched := newScheduler(nodesIn(zones), Facts{Size: size}, s)
				states += sched.everyState(func(at []int) {
					if problem := sched.problem(at); problem != "" {
						t.Errorf("%d members on %s, %s %s: at %v %s", size, zones, s.Topology, s.Form, at, problem)
					}
				})
			}
		}
	})
	t.Logf("%d states", states)
	if states < 5000 {
		t.Error("the state space has shrunk")
	}
}

// everyState calls f with every arrangement that can come about when members
// that are all alike start and stop. Members are in the order of their nodes.
func (s scheduler) everyState(f func(at []int)) int {
	seen := map[string]bool{}
	var visit func(at []int)
	visit = func(at []int) {
		at = slices.Sorted(slices.Values(at))
		key := fmt.Sprint(at)
		if seen[key] {
			return
		}
		seen[key] = true
		f(at)
		for i, node := range at {
			next := slices.Clone(at)
			next[i] = away
			if node != away {
				visit(next)
				continue
			}
			for node := range s.zones {
				if s.admits(i, node, at) {
					next[i] = node
					visit(next)
				}
			}
		}
	}
	none := slices.Repeat([]int{away}, len(s.pods))
	visit(none)
	return len(seen)
}

// problem is what is wrong with an arrangement, if anything.
func (s scheduler) problem(at []int) string {
	complete := true
	for i, node := range at {
		if node == away {
			complete = false
			if !s.finds(i, at) {
				return fmt.Sprintf("member %d finds no node", i)
			}
		}
	}
	p := s.pods[0]
	if p.host && len(slices.Compact(slices.DeleteFunc(slices.Clone(at), func(n int) bool { return n == away }))) < len(at)-s.absent(at) {
		return "two share a node"
	}
	fewest, most := len(at), 0
	for _, zone := range s.domains {
		fewest = min(fewest, s.count(zone, at))
		most = max(most, s.count(zone, at))
	}
	switch {
	case (p.antiZone || p.spread && len(at) <= len(s.domains)) && most > 1:
		return "two share a zone"
	case p.spread && complete && most-fewest > 1:
		return "zones are uneven"
	}
	return ""
}

func (s scheduler) absent(at []int) int {
	n := 0
	for _, node := range at {
		n += policytest.ToInt(node == away)
	}
	return n
}
