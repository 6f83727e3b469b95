// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// zoneTaken says that a required spread over zones may leave bound member i
// without a host. A spread constraint is one-sided: only i's own counts.
func (s seats) zoneTaken(i int) bool {
	if s.n > maxJudged {
		return true
	}
	if s.n <= len(s.names) {
		// The other members are fewer than the zones, so some zone is empty
		// and i may only go into such a one.
		return s.taken(i, s.boundZones, s.rovers())
	}
	if s.crowded(i, len(s.state), s.rovers()) {
		return true
	}
	return s.ordered && s.crowded(i, i, 0)
}

// census is how many members run in each zone; sizes to maxJudged, and fewer
// zones than members.
type census [maxJudged]uint8

// crowded says whether i finds no host beside the bound members of ordinals
// below limit, and rovers, in some arrangement of theirs.
func (s seats) crowded(i, limit, rovers int) bool {
	all := map[census]bool{{}: true}
	everywhere := make([]int, len(s.names))
	for z := range everywhere {
		everywhere[z] = z
	}
	for j, state := range s.state[:limit] {
		if j != i && state == Bound && len(s.reach[j].zones) > 0 {
			all = addMember(all, s.reach[j].zones)
		}
	}
	for range rovers {
		all = addMember(all, everywhere)
	}
	blockers := s.blockers(i, limit, rovers)
	for c := range all {
		if !s.admits(i, c, blockers) {
			return true
		}
	}
	return false
}

// addMember is every census with one more member in one of the zones.
func addMember(all map[census]bool, zones []int) map[census]bool {
	more := make(map[census]bool, len(all)*len(zones))
	for c := range all {
		for _, z := range zones {
			next := c
			next[z]++
			more[next] = true
		}
	}
	return more
}

// blockers is, for each of i's zones, how many others might sit on a host of
// i's there. It is nil where no one needs a host of its own.
func (s seats) blockers(i, limit, rovers int) map[int]int {
	if len(s.zone) < s.n || s.takenBothWays(i, s.boundHosts) {
		return nil
	}
	blockers := map[int]int{}
	for _, z := range s.reach[i].zones {
		mine := s.reach[i].hostsIn(s.grid, z)
		blockers[z] = rovers
		for j, state := range s.state[:limit] {
			blockers[z] += one(j != i && state == Bound && meets(mine, s.reach[j].hosts))
		}
	}
	return blockers
}

// admits says whether the scheduler would find i a host: one in a zone with
// the fewest members, since maxSkew is 1, that surely nobody sits on.
func (s seats) admits(i int, c census, blockers map[int]int) bool {
	fewest := slices.Min(c[:len(s.names)])
	for _, z := range s.reach[i].zones {
		if c[z] != fewest {
			continue
		}
		if blockers == nil || len(s.reach[i].hostsIn(s.grid, z)) > min(int(c[z]), blockers[z]) {
			return true
		}
	}
	return false
}
