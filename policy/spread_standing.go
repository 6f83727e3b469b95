// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Standing says whether members run where the spread rule wants them. Pods
// don't move: a member that was there before the policy stands where it stands.
type Standing struct {
	// Kept is True, False, or Unknown while members are on their way.
	Kept    Status
	Reason  string
	Message string
}

// The reasons of a standing, beside those of the spread's notes.
const (
	SpreadKept   = "SpreadKept"
	NodeShared   = "NodeShared"
	ZonesUneven  = "ZonesUneven"
	NotScheduled = "NotScheduled"
)

// Stand judges where the members of a cluster of some size run. topology is
// what the policy came to, never Auto; places are the nodes that they may use.
func Stand(size int, members []Member, topology Topology, places []Place) Standing {
	var placed []Member
	for _, m := range members {
		if m.Node != "" {
			placed = append(placed, m)
		}
	}
	if size == 0 && len(placed) == 0 {
		return Standing{True, SpreadKept, "no member is asked for"}
	}
	if size <= 1 && len(placed) <= 1 {
		return Standing{True, SpreadKept, "one member has nothing to be spread from"}
	}
	if s, broken := nodesShared(placed); broken {
		return s
	}
	if topology == TopologyZone {
		if s, done := zonesHeld(size, placed, places); done {
			return s
		}
	}
	if len(placed) < size {
		return Standing{Unknown, NotScheduled, fmt.Sprintf("%d of %d members run on a node", len(placed), size)}
	}
	apart := "nodes"
	if topology == TopologyZone {
		apart = "nodes, evenly over zones: " + counted(zoneCounts(placed, places))
	}
	return Standing{True, SpreadKept, fmt.Sprintf("%d members run on different %s", len(placed), apart)}
}

func nodesShared(placed []Member) (Standing, bool) {
	on := map[string][]string{}
	for _, m := range placed {
		on[m.Node] = append(on[m.Node], m.Pod)
	}
	for _, node := range slices.Sorted(maps.Keys(on)) {
		if len(on[node]) > 1 {
			return Standing{False, NodeShared, fmt.Sprintf("%s run on node %s; a member moves when its pod is made anew", strings.Join(on[node], " and "), node)}, true
		}
	}
	return Standing{}, false
}

// zonesHeld judges the zones, as far as they can be judged.
func zonesHeld(size int, placed []Member, places []Place) (Standing, bool) {
	if i := slices.IndexFunc(placed, func(m Member) bool { return m.Zone == "" }); i >= 0 {
		return Standing{Unknown, NodesWithoutZone, fmt.Sprintf("%s runs on node %s, which has no zone label", placed[i].Pod, placed[i].Node)}, true
	}
	counts := zoneCounts(placed, places)
	switch len(counts) {
	case 0:
		return Standing{False, NoZones, "no node that members may run on has a zone label"}, true
	case 1:
		return Standing{False, OneZone, "all nodes that members may run on are in zone " + slices.Collect(maps.Keys(counts))[0] + ": its failure takes every member"}, true
	}
	fair := (max(size, len(placed)) + len(counts) - 1) / len(counts)
	most, least := 0, size
	for _, n := range counts {
		most, least = max(most, n), min(least, n)
	}
	if most > fair || len(placed) >= size && most-least > 1 {
		return Standing{False, ZonesUneven, fmt.Sprintf("members are not even over zones: %s; a member moves when its pod is made anew and its volume allows it", counted(counts))}, true
	}
	return Standing{}, false
}

// zoneCounts are the members in each zone, with the zones that have none.
func zoneCounts(placed []Member, places []Place) map[string]int {
	counts := map[string]int{}
	for _, p := range places {
		if p.Zone != "" {
			counts[p.Zone] += 0
		}
	}
	for _, m := range placed {
		counts[m.Zone]++
	}
	return counts
}

func counted(counts map[string]int) string {
	zones := slices.Sorted(maps.Keys(counts))
	return list(len(zones), func(i int) string { return fmt.Sprintf("%s has %d", zones[i], counts[zones[i]]) })
}
