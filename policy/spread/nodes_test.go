// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"strings"
)

// nodesIn returns nodes. They are written as their zones, one letter each, a dot for a
// node without the label: "aab." are the nodes a1, a2, b1 and .1.
func nodesIn(zones string) []Node {
	var out []Node
	seen := map[rune]int{}
	for _, zone := range zones {
		seen[zone]++
		p := Node{Name: fmt.Sprintf("%c%d", zone, seen[zone])}
		if zone != '.' {
			p.Zone = string(zone)
		}
		out = append(out, p)
	}
	return out
}

// volumes are one word for each ordinal: ? waits for a pod, ! is placed without
// asking, - is none, any is bound without
// a node affinity, and otherwise a bound one's nodes or zones, by comma.
func volumes(items string, all []Node) []Volume {
	var out []Volume
	for word := range strings.FieldsSeq(items) {
		v := Volume{}
		switch word {
		case "-":
		case "any":
			v.State, v.AnyNode = Bound, true
			for _, p := range all {
				v.Nodes = append(v.Nodes, p.Name)
			}
		case "?":
			v.State = UnboundWaiting
		case "!":
			v.State = UnboundImmediate
		default:
			v.State = Bound
			for at := range strings.SplitSeq(word, ",") {
				v.Nodes = append(v.Nodes, nodesAt(at, all)...)
			}
		}
		out = append(out, v)
	}
	return out
}

// nodesAt are a zone's nodes, or one node, which need not exist.
func nodesAt(at string, all []Node) []string {
	var nodes []string
	for _, p := range all {
		if p.Zone == at {
			nodes = append(nodes, p.Name)
		}
	}
	if nodes == nil {
		nodes = []string{at}
	}
	return nodes
}

// inShort writes terms as in the table: host and zone, anti-zone for zones by
// anti-affinity, ! for required and ? for preferred, and minDomains.
func inShort(terms []Term) string {
	var items []string
	for _, t := range terms {
		word := "zone"
		switch {
		case t.TopologyKey == HostnameKey && t.Kind == PodAntiAffinity:
			word = "host"
		case t.Kind == PodAntiAffinity:
			word = "anti-zone"
		}
		word += map[bool]string{true: "!", false: "?"}[t.Hard]
		if t.MinDomains > 0 {
			word += fmt.Sprint(t.MinDomains)
		}
		items = append(items, word)
	}
	return strings.Join(items, " ")
}
