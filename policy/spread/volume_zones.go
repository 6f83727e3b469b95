// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "slices"

// zoneCanBlock says that a required spread over zones may leave bound member i
// without a host. A spread constraint is one-sided: only i's own counts.
func (s volumePlacement) zoneCanBlock(i int) bool {
	if s.n > maxExact {
		return true
	}
	if s.n <= len(s.names) {
		// The other members are fewer than the zones, so some zone is empty
		// and i may only go into such a one.
		return s.canBlock(i, s.boundZones, s.unconstrained())
	}
	if s.someAssignmentBlocks(i, len(s.state), s.unconstrained()) {
		return true
	}
	return s.ordered && s.someAssignmentBlocks(i, i, 0)
}

// membersByZone is how many members run in each zone; sizes to maxExact, and fewer
// zones than members.
type zoneCounts [maxExact]uint8

// someAssignmentBlocks says whether i finds no host beside the bound members of ordinals
// below limit, and rovers, in some arrangement of theirs.
func (s volumePlacement) someAssignmentBlocks(i, limit, rovers int) bool {
	all := map[zoneCounts]bool{{}: true}
	everywhere := make([]int, len(s.names))
	for z := range everywhere {
		everywhere[z] = z
	}
	for j, state := range s.state[:limit] {
		if j != i && state == Bound {
			all = addMember(all, s.reach[j].zones, len(s.hostsIn(j, noZone)) > 0)
		}
	}
	for range rovers {
		all = addMember(all, everywhere, false)
	}
	rooms := s.capacities(i, limit, rovers)
	for c := range all {
		if !c.admits(rooms, len(s.names)) {
			return true
		}
	}
	return false
}

// addMember is every census with one more member in one of the zones, or
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

// capacity is what bound member i finds in one of its zones: hosts, and how many
// others might sit on them that it can't share one with.
type capacity struct{ zone, hosts, blockers int }

func (s volumePlacement) capacities(i, limit, rovers int) []capacity {
	var rooms []capacity
	shares := s.canBlockEitherWay(i, s.boundHosts)
	for _, z := range s.reach[i].zones {
		mine := s.hostsIn(i, z)
		r := capacity{zone: z, hosts: len(mine), blockers: rovers}
		for j, state := range s.state[:limit] {
			if j == i || state != Bound || !intersects(mine, s.reach[j].hosts) {
				continue
			}
			if !shares || !s.canBlockEitherWay(j, s.boundHosts) {
				r.blockers++
			}
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// admits says whether the scheduler would find i a host: one in a zone with
// the fewest members, since maxSkew is 1, that surely nobody sits on.
func (c zoneCounts) admits(rooms []capacity, zones int) bool {
	fewest := slices.Min(c[:zones])
	for _, r := range rooms {
		if c[r.zone] == fewest && r.hosts > min(int(c[r.zone]), r.blockers) {
			return true
		}
	}
	return false
}
