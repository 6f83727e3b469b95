// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Status is whether members run where the rule wants them. Pods don't move, so a member that is
// older than the policy stays on its node.
type Status struct {
	// Kept is True, False, or Unknown while a member has no node.
	Kept    policy.Status
	Reason  policy.Reason
	Message string
}

// StatusOf returns whether the members of a cluster are spread. topology is Zone or Hostname, as
// in [Result]. nodes are those that the members may use.
func StatusOf(size int, members []policy.Member, topology Topology, nodes []Node) Status {
	placed := onNodes(members)
	if size == 0 && len(placed) == 0 {
		return Status{policy.True, SpreadKept, "no member is wanted"}
	}
	if size <= 1 && len(placed) <= 1 {
		return Status{policy.True, SpreadKept, "a single member needs no spread"}
	}
	if s, broken := nodesShared(placed); broken {
		return s
	}
	if topology == TopologyZone {
		if s, done := checkZones(size, placed, nodes); done {
			return s
		}
	}
	if len(placed) < size {
		return Status{policy.Unknown, NotScheduled, fmt.Sprintf("%d of %d members run on a node", len(placed), size)}
	}
	if topology == TopologyZone {
		return evenOverZones(placed, nodes)
	}
	return onDifferentNodes(placed, nodes)
}

// ZonesBroken returns the status of members that are not even over zones, or of which that can't be judged. It does
// not ask whether they share a node. broken is false if they are even as far as they run.
func ZonesBroken(size int, members []policy.Member, nodes []Node) (s Status, broken bool) {
	return checkZones(size, onNodes(members), nodes)
}

// onNodes returns the members that run on a node.
func onNodes(members []policy.Member) []policy.Member {
	var placed []policy.Member
	for _, m := range members {
		if m.Node != "" {
			placed = append(placed, m)
		}
	}
	return placed
}

// onDifferentNodes describes members that need not be even over zones, and reports a zone that holds the
// quorum.
func onDifferentNodes(placed []policy.Member, nodes []Node) Status {
	message := fmt.Sprintf("%d members run on different nodes", len(placed))
	counts := membersByZone(placed, nodes)
	delete(counts, "")
	if zone := quorumZone(counts, len(placed)); zone != "" {
		return Status{policy.True, ZoneHoldsQuorum, message + ", " + formatCounts(counts) + lossOf(zone)}
	}
	return Status{policy.True, SpreadKept, message}
}

// quorumZone returns the first zone whose loss takes the quorum, empty for none.
func quorumZone(counts map[string]int, size int) string {
	for _, zone := range slices.Sorted(maps.Keys(counts)) {
		if holdsQuorum(counts[zone], size) {
			return zone
		}
	}
	return ""
}

// lossOf returns what the loss of a zone means, as the end of a sentence, empty for none.
func lossOf(zone string) string {
	if zone == "" {
		return ""
	}
	return "; the loss of " + zone + " takes the quorum"
}

// evenOverZones describes members that are even over zones, and reports a zone that holds the quorum
// all the same.
func evenOverZones(placed []policy.Member, nodes []Node) Status {
	counts := membersByZone(placed, nodes)
	message := fmt.Sprintf("%d members run on different nodes, evenly over zones: %s", len(placed), formatCounts(counts))
	if zone := quorumZone(counts, len(placed)); zone != "" {
		return Status{policy.True, ZoneHoldsQuorum, message + lossOf(zone)}
	}
	return Status{policy.True, SpreadKept, message}
}

func nodesShared(placed []policy.Member) (Status, bool) {
	on := map[string][]string{}
	for _, m := range placed {
		on[m.Node] = append(on[m.Node], m.Pod)
	}
	for _, node := range slices.Sorted(maps.Keys(on)) {
		if len(on[node]) > 1 {
			return Status{policy.False, NodeShared, fmt.Sprintf("%s run on node %s", strings.Join(on[node], " and "), node)}, true
		}
	}
	return Status{}, false
}

// checkZones checks the spread over zones. done is false as long as the zones are even.
func checkZones(size int, placed []policy.Member, nodes []Node) (s Status, done bool) {
	if i := slices.IndexFunc(placed, func(m policy.Member) bool { return m.Zone == "" }); i >= 0 {
		return Status{policy.Unknown, NodesWithoutZone, fmt.Sprintf("%s runs on node %s, which has no zone label", placed[i].Pod, placed[i].Node)}, true
	}
	counts := membersByZone(placed, nodes)
	switch len(counts) {
	case 0:
		if len(nodes) == 0 {
			return Status{}, false
		}
		return Status{policy.False, NoZones, "no node that members may run on has a zone label"}, true
	case 1:
		return Status{policy.False, OneZone, "all nodes that members may run on are in zone " + slices.Collect(maps.Keys(counts))[0] + ": if it fails, all members fail"}, true
	}
	fair := (max(size, len(placed)) + len(counts) - 1) / len(counts)
	most, least := 0, size
	for _, n := range counts {
		most, least = max(most, n), min(least, n)
	}
	if most > fair || len(placed) >= size && most-least > 1 {
		return Status{policy.False, ZonesUneven, fmt.Sprintf("members are not even over zones: %s%s", formatCounts(counts), lossOf(quorumZone(counts, max(size, len(placed)))))}, true
	}
	return Status{}, false
}

// membersByZone returns the number of members in each zone, including zones without members.
func membersByZone(placed []policy.Member, nodes []Node) map[string]int {
	counts := map[string]int{}
	for _, p := range nodes {
		if p.Zone != "" {
			counts[p.Zone] += 0
		}
	}
	for _, m := range placed {
		counts[m.Zone]++
	}
	return counts
}

func formatCounts(counts map[string]int) string {
	zones := slices.Sorted(maps.Keys(counts))
	return policy.Items(len(zones), func(i int) string { return fmt.Sprintf("%s has %d", zones[i], counts[zones[i]]) })
}
