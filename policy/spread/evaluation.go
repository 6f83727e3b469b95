// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// evaluation is the spread rule's facts and settings, made ready to judge.
type evaluation struct {
	volumePlacement
	Settings
	topology Topology
	ordinal  int
	own      []string
}

func newEvaluation(f Facts, s Settings) evaluation {
	g := newNodeTopology(f.Nodes)
	if s.ZoneKey == "" {
		s.ZoneKey = ZoneKey
	}
	topology := s.Topology
	if topology != TopologyZone && topology != TopologyHostname {
		topology = TopologyHostname
		if len(g.names) >= 2 {
			topology = TopologyZone
		}
	}
	return evaluation{newVolumePlacement(g, f), s, topology, f.Ordinal, f.OwnKeys}
}

func (a evaluation) required() bool { return a.Enforcement != Preferred }

func (a evaluation) empty() bool { return len(a.zone) == 0 }

// topologyNotes are the notes on what nodes there are.
func (a evaluation) topologyNotes() []policy.Note {
	var notes []policy.Note
	switch {
	case a.empty():
		notes = append(notes, policy.Note{NoPlaces, "no node matches the pod's node selector, node affinity and tolerations: members are spread as well as possible once there are some"})
	case a.n > len(a.zone):
		notes = append(notes, policy.Note{MembersExceedHosts, fmt.Sprintf("%d members but %d nodes that match: some must share a node; add nodes to keep them apart", a.n, len(a.zone))})
	}
	if a.topology != TopologyZone || a.empty() {
		return notes
	}
	switch len(a.names) {
	case 0:
		notes = append(notes, policy.Note{NoZones, fmt.Sprintf("none of %d nodes that match has the label %s: members are spread over nodes only", len(a.zone), a.ZoneKey)})
	case 1:
		notes = append(notes, policy.Note{OneZone, fmt.Sprintf("all nodes that match and have the label %s are in %s: all members share that zone", a.ZoneKey, a.names[0])})
	}
	return notes
}

// zoneTerms adds the zone's term to v, and says whether it alone keeps
// every two members on different hosts.
func (a evaluation) zoneTerms(v *Result) bool {
	if a.topology != TopologyZone || len(a.names) == 0 && !a.empty() {
		return false
	}
	if slices.Contains(a.own, a.ZoneKey) {
		v.Notes = append(v.Notes, a.ownTerm(a.ZoneKey))
		return false
	}
	term := Term{Kind: TopologySpread, TopologyKey: a.ZoneKey}
	if a.Form == FormAntiAffinity {
		if refused := a.antiAffinityRefusal(); refused != nil {
			v.Notes = append(v.Notes, *refused)
		} else {
			term.Kind = PodAntiAffinity
		}
	}
	if a.required() && !a.empty() {
		if why := a.whyZoneNotRequired(term.Kind); why != nil {
			v.Notes = append(v.Notes, *why)
		} else {
			a.require(&term, v)
		}
	}
	v.Terms = append(v.Terms, term)
	return term.Hard && term.Kind == PodAntiAffinity && a.bare == 0
}

// antiAffinityRefusal is why anti-affinity over zones is not used although asked for.
func (a evaluation) antiAffinityRefusal() *policy.Note {
	if a.n <= len(a.names) || a.empty() {
		return nil
	}
	return &policy.Note{MembersExceedZones, fmt.Sprintf("%d members but %d zones: anti-affinity over %s would leave %d of them unscheduled for ever, so a spread constraint is used instead", a.n, len(a.names), a.ZoneKey, a.n-len(a.names))}
}

// require makes the zone's term a required one.
func (a evaluation) require(term *Term, v *Result) {
	term.Hard = true
	if term.Kind != TopologySpread {
		return
	}
	if a.n <= len(a.names) {
		term.MinDomains = a.n
	}
	if a.bare > 0 {
		v.Notes = append(v.Notes, policy.Note{NodesWithoutZone, fmt.Sprintf("%d of %d nodes that match have no label %s: no member can be scheduled there", a.bare, len(a.zone), a.ZoneKey)})
	}
}

// nodeTerms puts the hostname's term before what v has, unless the zone's does
// its work.
func (a evaluation) nodeTerms(v *Result, apart bool) {
	if slices.Contains(a.own, HostnameKey) {
		v.Notes = append(v.Notes, a.ownTerm(HostnameKey))
		return
	}
	if apart {
		return
	}
	term := Term{Kind: PodAntiAffinity, TopologyKey: HostnameKey}
	if a.required() && a.n <= len(a.zone) {
		why, soft := a.whyNodeNotRequired()
		if why != nil && !slices.Contains(v.Notes, *why) {
			v.Notes = append(v.Notes, *why)
		}
		term.Hard = !soft
	}
	v.Terms = slices.Insert(v.Terms, 0, term)
}

func (a evaluation) ownTerm(key string) policy.Note {
	return policy.Note{OwnTerm, fmt.Sprintf("the pod's own term for %s is kept and nothing is injected for that key", key)}
}
