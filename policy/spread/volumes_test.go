// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// forms are the settings under which volumes matter.
var forms = []Settings{
	{Topology: TopologyZone}, {Topology: TopologyZone, Form: FormAntiAffinity}, {Topology: TopologyHostname},
}

// TestSpreadVolumes goes through the layouts of bound volumes over every small
// topology, and through every arrangement that the volumes admit, however it
// came about: members may have been scheduled before there was a policy. A member
// that is restarted beside the others finds a node unless its volume admits
// none, and however many are away, one of them does, so that all come back.
//
// Sizes to four are exhausted. Of five members those layouts are in which each
// volume is tied to a node or to whole zones, a part of them, and some at random;
// POLICY_EXHAUSTIVE=1 takes all of five too.
func TestSpreadVolumes(t *testing.T) {
	t.Parallel()
	layouts, states := 0, 0
	judge := func(zones string, sets [][]string, f Facts) {
		for _, s := range forms {
			sched := newScheduler(nodesIn(zones), f, s)
			layouts++
			states += sched.everyArrangement(func(at []int, absent int) {
				if problem := sched.stuck(at, absent); problem != "" {
					t.Errorf("%s on %s, volumes %v: at %v %s", s.Topology, zones, sets, at, problem)
				}
			})
		}
	}
	dice, exhaustive := policytest.Seed(t), os.Getenv("POLICY_EXHAUSTIVE") != ""
	everyTopology(func(zones string) {
		all, usual := nodeSets(zones)
		for size := 2; size <= 5; size++ {
			sets := usual
			if size <= 4 || exhaustive {
				sets = all
			}
			everyMultiset(sets, size, func(sets [][]string) {
				if size <= 4 || exhaustive || dice.IntN(12) == 0 {
					judge(zones, sets, bound(sets))
				}
			})
		}
		for range 10 {
			sets := make([][]string, 4+dice.IntN(2))
			for i := range sets {
				sets[i] = all[dice.IntN(len(all))]
			}
			judge(zones, sets, bound(sets))
		}
	})
	t.Logf("%d layouts, %d arrangements", layouts, states)
	if layouts < 10_000 {
		t.Error("the state space has shrunk")
	}
}

// stuck is what is wrong with an arrangement, if anything.
func (s scheduler) stuck(at []int, absent int) string {
	waits := false
	for i, node := range at {
		if node != away || !slices.Contains(s.pods[i].nodes, true) {
			continue
		}
		if s.finds(i, at) {
			return ""
		}
		waits = true
	}
	if !waits {
		return ""
	}
	if absent == 1 {
		return "the member that is away finds no node"
	}
	return "none of those that are away finds a node"
}

// everyArrangement calls f with each way to have members on nodes that their
// volumes admit, or away.
func (s scheduler) everyArrangement(f func(at []int, absent int)) (arrangements int) {
	at := make([]int, len(s.pods))
	var assign func(i, absent int)
	assign = func(i, absent int) {
		if i == len(at) {
			arrangements++
			f(at, absent)
			return
		}
		at[i] = away
		assign(i+1, absent+1)
		for node, ok := range s.pods[i].nodes {
			if ok {
				at[i] = node
				assign(i+1, absent)
			}
		}
	}
	assign(0, 0)
	return arrangements
}

// nodeSets are the sets of nodes that a volume may be tied to, and those of
// them that storage usually gives: a node, a zone, two zones, everywhere.
func nodeSets(zones string) (all, usual [][]string) {
	nodes := nodesIn(zones)
	for mask := 1; mask < 1<<len(nodes); mask++ {
		var set []string
		in := map[string]int{}
		for i, p := range nodes {
			if mask&(1<<i) != 0 {
				set = append(set, p.Name)
				in[p.Zone]++
			}
		}
		whole := true
		for zone, n := range in {
			whole = whole && (zone != "" && n == strings.Count(zones, zone) || zone == "" && n == strings.Count(zones, "."))
		}
		all = append(all, set)
		if whole || len(set) == 1 {
			usual = append(usual, set)
		}
	}
	return all, usual
}

// everyMultiset calls f with each choice of size of the sets, in one order: it
// makes no difference which member is which while none waits for lower ordinals.
func everyMultiset(sets [][]string, size int, f func([][]string)) {
	chosen := make([][]string, 0, size)
	var choose func(from int)
	choose = func(from int) {
		if len(chosen) == size {
			f(slices.Clone(chosen))
			return
		}
		for i := from; i < len(sets); i++ {
			chosen = append(chosen, sets[i])
			choose(i)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
}

func bound(sets [][]string) Facts {
	f := Facts{Size: len(sets)}
	for _, set := range sets {
		f.Volumes = append(f.Volumes, Volume{State: Bound, Nodes: set})
	}
	return f
}
