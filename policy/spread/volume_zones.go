// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "slices"

// zoneCanBlock reports whether a required spread over zones may leave bound
// member i without a node. A spread constraint is one-sided: only the
// constraint of i itself counts.
func (p volumePlacement) zoneCanBlock(i int) bool {
	if p.size > maxExact {
		return true
	}
	if p.size <= len(p.nodes.zones) {
		// The other members are fewer than the zones. So a zone is empty, and
		// i may only go to an empty zone.
		return p.canBlock(i, p.feasibleZones, p.unconstrained())
	}
	if p.someAssignmentBlocks(i, len(p.state), p.unconstrained()) {
		return true
	}
	return p.ordered && p.someAssignmentBlocks(i, i, 0)
}

// zoneCounts is how many members run in each zone. It has room for maxExact
// zones, and is used only where there are fewer zones than members.
type zoneCounts [maxExact]uint8

// someAssignmentBlocks reports whether i finds no node beside the bound members
// of ordinals below limit and the unconstrained ones, in some assignment of them.
func (p volumePlacement) someAssignmentBlocks(i, limit, unconstrained int) bool {
	all := map[zoneCounts]bool{{}: true}
	everyZone := make([]int, len(p.nodes.zones))
	for z := range everyZone {
		everyZone[z] = z
	}
	for j, state := range p.state[:limit] {
		if j != i && state == Bound {
			all = addMember(all, p.feasible[j].zones, len(p.nodesInZone(j, noZone)) > 0)
		}
	}
	for range unconstrained {
		all = addMember(all, everyZone, false)
	}
	capacities := p.capacities(i, limit, unconstrained)
	for c := range all {
		if !c.admits(capacities, len(p.nodes.zones)) {
			return true
		}
	}
	return false
}

// addMember returns all counts with one more member in one of the zones, or
// outside all of them.
func addMember(all map[zoneCounts]bool, zones []int, outside bool) map[zoneCounts]bool {
	more := make(map[zoneCounts]bool, len(all)*len(zones))
	for c := range all {
		if outside || len(zones) == 0 {
			more[c] = true
		}
		for _, z := range zones {
			next := c
			next[z]++
			more[next] = true
		}
	}
	return more
}

// capacity is what bound member i finds in one of its zones: nodes, and how many
// other members can occupy them that i can't share a node with.
type capacity struct{ zone, nodes, blockers int }

func (p volumePlacement) capacities(i, limit, unconstrained int) []capacity {
	var capacities []capacity
	shares := p.canBlockEitherWay(i, p.feasibleNodes)
	for _, z := range p.feasible[i].zones {
		mine := p.nodesInZone(i, z)
		c := capacity{zone: z, nodes: len(mine), blockers: unconstrained}
		for j, state := range p.state[:limit] {
			if j == i || state != Bound || !intersects(mine, p.feasible[j].nodes) {
				continue
			}
			if !shares || !p.canBlockEitherWay(j, p.feasibleNodes) {
				c.blockers++
			}
		}
		capacities = append(capacities, c)
	}
	return capacities
}

// admits reports whether the scheduler finds i a node. The node must be in a
// zone with the fewest members, since maxSkew is 1, and surely free.
func (c zoneCounts) admits(capacities []capacity, zones int) bool {
	fewest := slices.Min(c[:zones])
	for _, at := range capacities {
		if c[at.zone] == fewest && at.nodes > min(int(c[at.zone]), at.blockers) {
			return true
		}
	}
	return false
}
