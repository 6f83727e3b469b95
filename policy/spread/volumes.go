// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "slices"

// maxExact is the largest size for which all assignments of members are
// searched. In a larger cluster, members with bound volumes get preferences only.
const maxExact = 9

// volumePlacement is where the members' volumes let them run.
//
// The scheduler assigns one pod at a time, beside the pods that run. So it is
// not enough that one assignment of all members meets a required term. A
// member whose volume ties it to some nodes must find a node in every
// assignment of the other members that their own volumes admit. Otherwise it
// may stay Pending until another member moves, and none has a reason to.
type volumePlacement struct {
	nodes    nodeTopology
	size     int
	ordered  bool
	state    []VolumeState
	tied     []bool // bound, with a node affinity
	feasible []feasible
}

func newVolumePlacement(nodes nodeTopology, f Facts) volumePlacement {
	p := volumePlacement{nodes: nodes, size: f.Size, ordered: f.Ordered}
	for _, v := range f.Volumes[:min(len(f.Volumes), max(f.Size, 0))] {
		p.state = append(p.state, v.State)
		p.tied = append(p.tied, v.State == Bound && !v.AnyNode)
		var at feasible
		if v.State == Bound {
			at = nodes.feasibleAt(v.Nodes)
		}
		p.feasible = append(p.feasible, at)
	}
	return p
}

// stateOf returns the state of an ordinal's volume, NoVolume if none is known.
func (p volumePlacement) stateOf(i int) VolumeState {
	if i < 0 || i >= len(p.state) {
		return NoVolume
	}
	return p.state[i]
}

// decidesZone reports whether the volume of an ordinal has a zone, or gets one without the scheduler.
func (p volumePlacement) decidesZone(i int) bool {
	return p.stateOf(i) == UnboundImmediate || i >= 0 && i < len(p.tied) && p.tied[i]
}

// anyTied reports whether the volume of an ordinal is bound to some nodes or zones.
func (p volumePlacement) anyTied() bool { return slices.Contains(p.tied, true) }

// boundIn returns for each zone how many members can run there only.
func (p volumePlacement) boundIn() []int {
	in := make([]int, len(p.nodes.zones))
	for i, f := range p.feasible {
		if p.state[i] == Bound && len(f.zones) == 1 && len(p.nodesInZone(i, noZone)) == 0 {
			in[f.zones[0]]++
		}
	}
	return in
}

// feasibleZones and feasibleNodes return where bound member i may run.
func (p volumePlacement) feasibleZones(i int) []int { return p.feasible[i].zones }
func (p volumePlacement) feasibleNodes(i int) []int { return p.feasible[i].nodes }

// nodesInZone returns the nodes of a zone where bound member i may run.
func (p volumePlacement) nodesInZone(i, zone int) []int {
	var nodes []int
	for _, n := range p.feasible[i].nodes {
		if p.nodes.zoneOf[n] == zone {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// canBlockEitherWay reports whether a required anti-affinity may leave bound
// member i Pending for ever. domains returns the zones or the nodes of a member.
//
// Anti-affinity is symmetric: the terms of the members that run keep a new one
// away as its own terms do. So each member that can be in the way of a member
// without a safe node must have no required term either.
func (p volumePlacement) canBlockEitherWay(i int, domains func(int) []int) bool {
	if p.size > maxExact {
		return true
	}
	for j, state := range p.state {
		if state == Bound && (j == i || intersects(domains(i), domains(j))) && p.canBlock(j, domains, 0) {
			return true
		}
	}
	return false
}

// canBlock reports whether the other members can occupy all domains of bound
// member i: each bound one occupies a domain that its volume admits, and each of
// the unconstrained any one. As many domains as there are members are never all
// occupied, so no search is needed then.
func (p volumePlacement) canBlock(i int, domains func(int) []int, unconstrained int) bool {
	needs := len(domains(i))
	return needs < p.size && p.maxSimultaneous(i, domains)+unconstrained >= needs
}

// maxSimultaneous returns how many of i's domains the other bound members can
// occupy at once. It is the size of a bipartite matching, found by augmenting
// paths.
func (p volumePlacement) maxSimultaneous(i int, domains func(int) []int) int {
	domainOf := map[int]int{} // by member
	var occupy func(domain int, tried []bool) bool
	occupy = func(domain int, tried []bool) bool {
		for j, state := range p.state {
			if state != Bound || j == i || tried[j] {
				continue
			}
			if _, ok := slices.BinarySearch(domains(j), domain); !ok {
				continue
			}
			tried[j] = true
			if other, ok := domainOf[j]; !ok || occupy(other, tried) {
				domainOf[j] = domain
				return true
			}
		}
		return false
	}
	occupied := 0
	for _, domain := range domains(i) {
		if occupy(domain, make([]bool, len(p.state))) {
			occupied++
		}
	}
	return occupied
}

// unconstrained returns how many members other than bound i have no volume and
// may run anywhere. A StatefulSet has none beside a bound one.
func (p volumePlacement) unconstrained() int {
	n := p.size - len(p.state)
	for _, state := range p.state {
		if state == NoVolume {
			n++
		}
	}
	return n
}
