// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "slices"

// maxExact is the largest size whose volumes are judged exactly. The members
// of a larger cluster whose volumes are bound get preferences only.
const maxExact = 9

// volumePlacement are where the members' volumes let them run.
//
// The scheduler looks at one pod at a time, beside the pods that run. So it is
// not enough that some arrangement of all members meets a required term: a
// member whose volume ties it down must find a host in every arrangement of
// the others that their own volumes admit, or it may wait for ever for one of
// them to move, and none of them has a reason to.
type volumePlacement struct {
	nodeTopology
	n       int
	ordered bool
	state   []VolumeState
	reach   []feasible
}

func newVolumePlacement(g nodeTopology, f Facts) volumePlacement {
	s := volumePlacement{nodeTopology: g, n: f.Size, ordered: f.Ordered}
	for _, v := range f.Volumes[:min(len(f.Volumes), max(f.Size, 0))] {
		s.state = append(s.state, v.State)
		var r feasible
		if v.State == Bound {
			r = g.reach(v.Nodes)
		}
		s.reach = append(s.reach, r)
	}
	return s
}

// hostsIn are the hosts of bound member i in a zone.
func (s volumePlacement) hostsIn(i, zone int) []int { return s.reach[i].hostsIn(s.nodeTopology, zone) }

// volume is the state of an ordinal's volume, NoVolume where none is known.
func (s volumePlacement) volume(i int) VolumeState {
	if i < 0 || i >= len(s.state) {
		return NoVolume
	}
	return s.state[i]
}

// boundZones is where a bound member may run, by zone; boundHosts by host.
func (s volumePlacement) boundZones(i int) []int { return s.reach[i].zones }
func (s volumePlacement) boundHosts(i int) []int { return s.reach[i].hosts }

// canBlockEitherWay says that a required anti-affinity may leave bound member i
// without a place. Anti-affinity is symmetric: the terms of the members that
// run turn a newcomer away as its own do. So whoever could be in the way of a
// member without a sure place must have no required term either.
func (s volumePlacement) canBlockEitherWay(i int, of func(int) []int) bool {
	if s.n > maxExact {
		return true
	}
	for j, state := range s.state {
		if state == Bound && (j == i || intersects(of(i), of(j))) && s.canBlock(j, of, 0) {
			return true
		}
	}
	return false
}

// canBlock says whether the others may hold all that bound member i needs one of:
// those whose volumes admit it one each, and rovers one each, whatever it is.
// As many places as there are members are never all canBlock, and need no search.
func (s volumePlacement) canBlock(i int, of func(int) []int, rovers int) bool {
	needs := len(of(i))
	return needs < s.n && s.maxSimultaneous(i, of)+rovers >= needs
}

// maxSimultaneous is how many of i's places the other bound members can hold at once:
// a matching, found by augmenting paths.
func (s volumePlacement) maxSimultaneous(i int, of func(int) []int) int {
	holds := map[int]int{} // member -> place
	var hold func(place int, tried []bool) bool
	hold = func(place int, tried []bool) bool {
		for j, state := range s.state {
			if state != Bound || j == i || tried[j] {
				continue
			}
			if _, ok := slices.BinarySearch(of(j), place); !ok {
				continue
			}
			tried[j] = true
			if held, ok := holds[j]; !ok || hold(held, tried) {
				holds[j] = place
				return true
			}
		}
		return false
	}
	held := 0
	for _, place := range of(i) {
		if hold(place, make([]bool, len(s.state))) {
			held++
		}
	}
	return held
}

// unconstrained are the members other than bound i that have no volume at all and
// may run anywhere. A StatefulSet has none beside a bound one.
func (s volumePlacement) unconstrained() int {
	n := s.n - len(s.state)
	for _, state := range s.state {
		if state == NoVolume {
			n++
		}
	}
	return n
}
