// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// away is the node of a member that does not run.
const away = -1

// scheduler is a naive second reading of the filters of kube-scheduler 1.37
// (podtopologyspread, interpodaffinity, volumebinding): one pod at a time,
// beside the pods that run. Nodes and members are numbered; nodes with no zone
// have an empty one.
type scheduler struct {
	zones   []string // by node
	domains []string
	pods    []pod // by ordinal
}

// pod is a member's pod as admission left it.
type pod struct {
	nodes    []bool // that its volume admits
	host     bool   // required anti-affinity over hosts
	antiZone bool   // required anti-affinity over zones
	spread   bool   // required spread over zones
	domains  int    // its minDomains
}

func newScheduler(at []Node, f Facts, s Settings) scheduler {
	sched := scheduler{}
	for _, p := range at {
		sched.zones = append(sched.zones, p.Zone)
		if p.Zone != "" && !slices.Contains(sched.domains, p.Zone) {
			sched.domains = append(sched.domains, p.Zone)
		}
	}
	f.Nodes = at
	for f.Ordinal = range f.Size {
		sched.pods = append(sched.pods, newPod(f, Evaluate(f, s)))
	}
	return sched
}

func newPod(f Facts, v Result) pod {
	p := pod{nodes: make([]bool, len(f.Nodes))}
	for i, at := range f.Nodes {
		bound := f.Ordinal < len(f.Volumes) && f.Volumes[f.Ordinal].State == Bound
		p.nodes[i] = !bound || slices.Contains(f.Volumes[f.Ordinal].Nodes, at.Name)
	}
	for _, t := range v.Terms {
		switch {
		case !t.Hard:
		case t.TopologyKey == HostnameKey:
			p.host = true
		case t.Kind == PodAntiAffinity:
			p.antiZone = true
		default:
			p.spread, p.domains = true, t.MinDomains
		}
	}
	return p
}

// finds reports whether member i, which is away, finds a node.
func (s scheduler) finds(i int, at []int) bool {
	for node := range s.zones {
		if s.admits(i, node, at) {
			return true
		}
	}
	return false
}

// admits reports whether node passes every filter for member i.
func (s scheduler) admits(i, node int, at []int) bool {
	p := s.pods[i]
	if !p.nodes[node] {
		return false
	}
	zone := s.zones[node]
	for j, other := range at {
		if other == away {
			continue
		}
		q := s.pods[j]
		if other == node && (p.host || q.host) {
			return false
		}
		if zone != "" && s.zones[other] == zone && (p.antiZone || q.antiZone) {
			return false
		}
	}
	return !p.spread || zone != "" && s.count(zone, at)+1-s.globalMinimum(p.domains, at) <= 1
}

func (s scheduler) count(zone string, at []int) int {
	n := 0
	for _, node := range at {
		n += policytest.ToInt(node != away && s.zones[node] == zone)
	}
	return n
}

// globalMinimum is podtopologyspread's: 0 with fewer domains than minDomains.
func (s scheduler) globalMinimum(minDomains int, at []int) int {
	if len(s.domains) < minDomains {
		return 0
	}
	fewest := len(at)
	for _, zone := range s.domains {
		fewest = min(fewest, s.count(zone, at))
	}
	return fewest
}

// everyTopology calls f with all kinds of up to four nodes in up to three zones
// and without a zone, as nodes_test.go writes them.
func everyTopology(f func(zones string)) {
	for a := range 5 {
		for b := range a + 1 {
			for c := range b + 1 {
				for none := range 5 {
					if nodes := a + b + c + none; nodes > 0 && nodes <= 4 {
						f(strings.Repeat("a", a) + strings.Repeat("b", b) + strings.Repeat("c", c) + strings.Repeat(".", none))
					}
				}
			}
		}
	}
}
