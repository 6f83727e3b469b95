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
		if j != i && state == Bound {
			all = addMember(all, s.reach[j].zones, len(s.hostsIn(j, noZone)) > 0)
		}
	}
	for range rovers {
		all = addMember(all, everywhere, false)
	}
	rooms := s.rooms(i, limit, rovers)
	for c := range all {
		if !c.admits(rooms, len(s.names)) {
			return true
		}
	}
	return false
}

// addMember is every census with one more member in one of the zones, or
// outside all of them.
func addMember(all map[census]bool, zones []int, outside bool) map[census]bool {
	more := make(map[census]bool, len(all)*len(zones))
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

// room is what bound member i finds in one of its zones: hosts, and how many
// others might sit on them that it can't share one with.
type room struct{ zone, hosts, blockers int }

func (s seats) rooms(i, limit, rovers int) []room {
	var rooms []room
	shares := s.takenBothWays(i, s.boundHosts)
	for _, z := range s.reach[i].zones {
		mine := s.hostsIn(i, z)
		r := room{zone: z, hosts: len(mine), blockers: rovers}
		for j, state := range s.state[:limit] {
			if j == i || state != Bound || !meets(mine, s.reach[j].hosts) {
				continue
			}
			if !shares || !s.takenBothWays(j, s.boundHosts) {
				r.blockers++
			}
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// admits says whether the scheduler would find i a host: one in a zone with
// the fewest members, since maxSkew is 1, that surely nobody sits on.
func (c census) admits(rooms []room, zones int) bool {
	fewest := slices.Min(c[:zones])
	for _, r := range rooms {
		if c[r.zone] == fewest && r.hosts > min(int(c[r.zone]), r.blockers) {
			return true
		}
	}
	return false
}
