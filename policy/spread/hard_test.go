// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// TestSpreadStaysHard holds the rule to what it should not soften: where every
// bound volume is tied to one zone, or every one to one node, as one storage
// class gives them, the terms of all members are required just when there is an
// arrangement of all members that meets them.
func TestSpreadStaysHard(t *testing.T) {
	t.Parallel()
	hard, soft := 0, 0
	for _, zones := range []string{"abc", "aabbcc", "aabbc", "aaabbcc", "aab", "aabb", "abbb", "aaa", "abcd", "abcdd"} {
		at := nodesIn(zones)
		for _, choices := range [][]string{distinct(zones, false), distinct(zones, true)} {
			for size := 2; size <= 5; size++ {
				everyWord(append(choices, "?"), size, func(layout []string) {
					f := Facts{Size: size, Nodes: at, Volumes: volumes(strings.Join(layout, " "), at)}
					want := anyArrangement(at, f)
					got := true
					for f.Ordinal = range size {
						for _, term := range Evaluate(f, Settings{Topology: TopologyZone}).Terms {
							got = got && (term.Hard || size > len(at) && term.TopologyKey == HostnameKey)
						}
					}
					// Two in a zone while others still wait for theirs is only
					// right once those run, which may never come about.
					if got != want && (got || !early(layout)) {
						t.Errorf("%d on %s, volumes %s: all required %t, can be met %t", size, zones, layout, got, want)
					}
					hard += policytest.ToInt(want)
					soft += policytest.ToInt(!want)
				})
			}
		}
	}
	t.Logf("%d layouts can be met, %d can't", hard, soft)
	if min(hard, soft) < 1000 {
		t.Error("the layouts have shrunk")
	}
}

// early is true if some wait while two share a zone.
func early(layout []string) bool {
	taken := map[byte]int{}
	for _, word := range layout {
		taken[word[0]]++
	}
	waiting := taken['?']
	delete(taken, '?')
	return waiting > 0 && slices.Max(slices.Collect(maps.Values(taken))) > 1
}

// anyArrangement searches for an arrangement of all members, naively.
func anyArrangement(at []Node, f Facts) bool {
	sched := scheduler{}
	for _, p := range at {
		sched.zones = append(sched.zones, p.Zone)
	}
	sched.domains = distinct(strings.Join(sched.zones, ""), false)
	for f.Ordinal = range f.Size {
		f.Nodes = at
		sched.pods = append(sched.pods, newPod(f, Result{}))
	}
	found := false
	sched.everyArrangement(func(nodes []int, absent int) {
		found = found || absent == 0 && sched.meets(nodes)
	})
	return found
}

// meets reports whether an arrangement is what the required terms describe.
func (s scheduler) meets(nodes []int) bool {
	for i, a := range nodes {
		for _, b := range nodes[:i] {
			if a == b && len(nodes) <= len(s.zones) {
				return false
			}
		}
	}
	fewest, most := len(nodes), 0
	for _, zone := range s.domains {
		fewest = min(fewest, s.count(zone, nodes))
		most = max(most, s.count(zone, nodes))
	}
	if len(nodes) <= len(s.domains) {
		return most <= 1
	}
	return most-fewest <= 1
}

// distinct are the zones of a topology, or its nodes.
func distinct(zones string, nodes bool) []string {
	var choices []string
	for _, p := range nodesIn(zones) {
		switch {
		case nodes:
			choices = append(choices, p.Name)
		case len(choices) == 0 || choices[len(choices)-1] != p.Zone:
			choices = append(choices, p.Zone)
		}
	}
	return choices
}

// everyWord calls f with each selection of size choices, in one order.
func everyWord(choices []string, size int, f func([]string)) {
	sets := make([][]string, len(choices))
	for i, w := range choices {
		sets[i] = []string{w}
	}
	everyMultiset(sets, size, func(chosen [][]string) {
		layout := make([]string, size)
		for i, c := range chosen {
			layout[i] = c[0]
		}
		f(layout)
	})
}
