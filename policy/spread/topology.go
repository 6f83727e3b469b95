// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "slices"

// noZone is the zone of a host without the zone label.
const noZone = -1

// nodeTopology is the places, as numbered hosts in numbered zones.
type nodeTopology struct {
	host  map[string]int // by node name
	zone  []int          // by host
	names []string       // of zones
	hosts []int          // in each zone
	bare  int            // hosts without a zone
}

func newNodeTopology(places []Node) nodeTopology {
	g := nodeTopology{host: make(map[string]int, len(places)), zone: make([]int, 0, len(places))}
	zones := map[string]int{}
	for _, p := range places {
		if _, seen := g.host[p.Name]; seen {
			continue
		}
		z, known := zones[p.Zone]
		switch {
		case p.Zone == "":
			z = noZone
			g.bare++
		case !known:
			z = len(g.names)
			zones[p.Zone] = z
			g.names = append(g.names, p.Zone)
			g.hosts = append(g.hosts, 0)
		}
		if z != noZone {
			g.hosts[z]++
		}
		g.host[p.Name] = len(g.zone)
		g.zone = append(g.zone, z)
	}
	return g
}

// balanced says whether n members fit the zones within one of each other, no
// two of them on a host. Where they do, a member that is free to run anywhere
// always finds a host in a zone with the fewest, wherever the others run.
func (g nodeTopology) balanced(n int) bool {
	if len(g.names) == 0 {
		return false
	}
	share, room := n/len(g.names), 0
	for _, hosts := range g.hosts {
		if hosts < share {
			return false
		}
		room += min(hosts, share+1)
	}
	return room >= n
}

// feasible is where a volume lets its member run: hosts and zones, sorted.
type feasible struct {
	hosts []int
	zones []int
}

func (g nodeTopology) reach(nodes []string) feasible {
	var r feasible
	zones := make([]bool, len(g.names))
	for _, node := range nodes {
		h, ok := g.host[node]
		if !ok {
			continue
		}
		r.hosts = append(r.hosts, h)
		if z := g.zone[h]; z != noZone && !zones[z] {
			zones[z] = true
			r.zones = append(r.zones, z)
		}
	}
	slices.Sort(r.hosts)
	r.hosts = slices.Compact(r.hosts)
	slices.Sort(r.zones)
	return r
}

// hostsIn are the reach's hosts in a zone.
func (r feasible) hostsIn(g nodeTopology, zone int) []int {
	var in []int
	for _, h := range r.hosts {
		if g.zone[h] == zone {
			in = append(in, h)
		}
	}
	return in
}

// intersects says whether two sorted lists share an element.
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
