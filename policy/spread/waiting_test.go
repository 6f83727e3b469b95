// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"math/rand/v2"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestSpreadWaiting mixes bound volumes with such as wait for a pod, at random
// over every small topology. Wherever the members with a volume run, those that
// wait for one each find a node, and so does one of the others that is
// restarted meanwhile.
func TestSpreadWaiting(t *testing.T) {
	t.Parallel()
	dice := policytest.Seed(t)
	arrangements := 0
	everyTopology(func(zones string) {
		for range 100 {
			f, sets := someWaiting(dice, zones)
			for _, s := range forms {
				sched := newScheduler(nodesIn(zones), f, s)
				arrangements += sched.everyArrangement(func(at []int, absent int) {
					if i := sched.unplaced(f, at, absent); i >= 0 {
						t.Errorf("%s %s on %s, volumes %v: at %v member %d finds no node", s.Topology, s.Form, zones, sets, at, i)
					}
				})
			}
		}
	})
	t.Logf("%d arrangements", arrangements)
}

// unplaced is a member that should find a node and does not, or -1.
func (s scheduler) unplaced(f Facts, at []int, absent int) int {
	waiting := 0
	for i, v := range f.Volumes {
		if v.State == UnboundWaiting {
			waiting++
			if at[i] != away {
				return -1
			}
		}
	}
	for i, v := range f.Volumes {
		restarted := v.State == Bound && absent == waiting+1
		if at[i] == away && (restarted || v.State == UnboundWaiting) && !s.finds(i, at) {
			return i
		}
	}
	return -1
}

func someWaiting(dice *rand.Rand, zones string) (Facts, [][]string) {
	all, _ := nodeSets(zones)
	sets := make([][]string, 2+dice.IntN(4))
	for i := range sets {
		sets[i] = all[dice.IntN(len(all))]
	}
	f := bound(sets)
	for i := range f.Volumes {
		if dice.IntN(2) == 0 {
			f.Volumes[i] = Volume{State: UnboundWaiting}
			sets[i] = nil
		}
	}
	return f, sets
}

// TestSpreadOrdered starts the members of a cluster one after another, as a
// StatefulSet with OrderedReady does: each finds a node wherever those of lower
// ordinals run, since those of higher ones won't come before it.
func TestSpreadOrdered(t *testing.T) {
	t.Parallel()
	dice := policytest.Seed(t)
	starts := 0
	everyTopology(func(zones string) {
		all, usual := nodeSets(zones)
		for round := range 200 {
			sets := make([][]string, 2+dice.IntN(4))
			for i := range sets {
				sets[i] = usual[dice.IntN(len(usual))]
				if round%2 == 0 {
					sets[i] = all[dice.IntN(len(all))]
				}
			}
			f := bound(sets)
			f.Ordered = true
			for _, s := range forms {
				sched := newScheduler(nodesIn(zones), f, s)
				sched.everyArrangement(func(at []int, absent int) {
					next := len(at) - absent
					for i, node := range at {
						if (node == away) != (i >= next) {
							return
						}
					}
					starts++
					if next < len(at) && !sched.finds(next, at) {
						t.Errorf("%s %s on %s, volumes %v: at %v member %d finds no node", s.Topology, s.Form, zones, sets, at, next)
					}
				})
			}
		}
	})
	t.Logf("%d starts", starts)
}
