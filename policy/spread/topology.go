// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "slices"

// noZone is the zone of a node without the zone label.
const noZone = -1

// nodeTopology numbers the nodes and the zones that members may use.
type nodeTopology struct {
	index   map[string]int // number of a node, by name
	zoneOf  []int          // zone of each node
	zones   []string       // name of each zone
	nodesIn []int          // how many nodes each zone has
	unzoned int            // how many nodes have no zone
}

func newNodeTopology(nodes []Node) nodeTopology {
	t := nodeTopology{index: make(map[string]int, len(nodes)), zoneOf: make([]int, 0, len(nodes))}
	zones := map[string]int{}
	for _, n := range nodes {
		if _, seen := t.index[n.Name]; seen {
			continue
		}
		z, known := zones[n.Zone]
		switch {
		case n.Zone == "":
			z = noZone
			t.unzoned++
		case !known:
			z = len(t.zones)
			zones[n.Zone] = z
			t.zones = append(t.zones, n.Zone)
			t.nodesIn = append(t.nodesIn, 0)
		}
		if z != noZone {
			t.nodesIn[z]++
		}
		t.index[n.Name] = len(t.zoneOf)
		t.zoneOf = append(t.zoneOf, z)
	}
	return t
}

// count returns how many nodes there are.
func (t nodeTopology) count() int { return len(t.zoneOf) }

func (t nodeTopology) empty() bool { return len(t.zoneOf) == 0 }

// balanced reports whether n members fit the zones within one of each other, no
// two of them on a node. If they do, a member that may run anywhere always
// finds a node in a zone with the fewest members, wherever the others run.
func (t nodeTopology) balanced(n int) bool {
	if len(t.zones) == 0 {
		return false
	}
	share, room := n/len(t.zones), 0
	for _, nodes := range t.nodesIn {
		if nodes < share {
			return false
		}
		room += min(nodes, share+1)
	}
	return room >= n
}

// feasible is where a volume lets its member run: nodes and zones, sorted.
type feasible struct {
	nodes []int
	zones []int
}

// feasibleAt returns the nodes of the given names, and their zones.
func (t nodeTopology) feasibleAt(names []string) feasible {
	var f feasible
	zones := make([]bool, len(t.zones))
	for _, name := range names {
		n, ok := t.index[name]
		if !ok {
			continue
		}
		f.nodes = append(f.nodes, n)
		if z := t.zoneOf[n]; z != noZone && !zones[z] {
			zones[z] = true
			f.zones = append(f.zones, z)
		}
	}
	slices.Sort(f.nodes)
	f.nodes = slices.Compact(f.nodes)
	slices.Sort(f.zones)
	return f
}

// intersects reports whether two sorted lists share an element.
func intersects(a, b []int) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			return true
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return false
}
