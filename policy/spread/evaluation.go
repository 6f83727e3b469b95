// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// evaluation has the facts and settings for one pod, prepared for the rule.
type evaluation struct {
	size     int
	ordinal  int
	topology Topology // never Auto
	// auto is true if the policy leaves the topology to the nodes.
	auto     bool
	form     Form
	zoneKey  string
	required bool
	// ownKeys are the keys that the pod's own terms decide about. softKeys are those of its
	// preferred terms, beside which only a required term is added.
	ownKeys  []string
	softKeys []string
	// requiredBy is that of [Facts].
	requiredBy map[string][]string
	nodes      nodeTopology
	// clusterZones is that of [Facts].
	clusterZones int
	volumes      volumePlacement
}

func newEvaluation(f Facts, s Settings) evaluation {
	nodes := newNodeTopology(f.Nodes)
	e := evaluation{
		size: f.Size, ordinal: f.Ordinal, ownKeys: f.OwnKeys, softKeys: f.OwnSoftKeys, requiredBy: f.RequiredBy,
		topology: s.Topology, form: s.Form, zoneKey: s.ZoneKey, required: s.Enforcement != Preferred,
		nodes: nodes, clusterZones: f.ClusterZones, volumes: newVolumePlacement(nodes, f),
	}
	if e.zoneKey == "" {
		e.zoneKey = ZoneKey
	}
	if e.topology != TopologyZone && e.topology != TopologyHostname {
		e.auto, e.topology = true, TopologyHostname
		if len(nodes.zones) >= 2 || nodes.empty() && f.ClusterZones >= 2 {
			e.topology = TopologyZone
		}
	}
	return e
}

// addZoneTerm adds the zone's term to r. It reports whether this term alone
// keeps every two members on different nodes.
func (e evaluation) addZoneTerm(r *Result) (apart bool) {
	if e.topology != TopologyZone || len(e.nodes.zones) == 0 && !e.nodes.empty() {
		return false
	}
	if e.own(e.zoneKey) {
		r.Notes = append(r.Notes, ownTerm(e.zoneKey))
		return false
	}
	term := Term{Kind: TopologySpread, TopologyKey: e.zoneKey}
	if e.form == FormAntiAffinity && !e.nodes.empty() {
		if why := e.whyNoAntiAffinity(); why != nil {
			r.Notes = append(r.Notes, *why)
		} else {
			term.Kind = PodAntiAffinity
		}
	}
	if e.required {
		e.firmZone(&term, r)
	}
	if e.besideOwn(term, r) {
		r.Terms = append(r.Terms, term)
	}
	return term.Hard && term.Kind == PodAntiAffinity && e.nodes.unzoned == 0
}

// firmZone makes the zone's term required, unless nodes or volumes don't allow that.
func (e evaluation) firmZone(term *Term, r *Result) {
	why := e.whyZoneNotRequired(term.Kind)
	switch {
	case why != nil:
		r.Notes = append(r.Notes, *why)
	case !e.nodes.empty() || e.clusterZones > 0 && !e.volumes.decidesZone(e.ordinal):
		e.requireZone(term, r)
	}
}

// requireZone makes the zone's term required.
func (e evaluation) requireZone(term *Term, r *Result) {
	term.Hard = true
	if term.Kind != TopologySpread {
		return
	}
	if e.size <= len(e.nodes.zones) {
		term.MinDomains = e.size
	}
	if e.nodes.unzoned > 0 {
		r.Notes = append(r.Notes, policy.NewNote(NodesWithoutZone, "%d of %d nodes that match have no label %s: no member can be scheduled there", e.nodes.unzoned, e.nodes.count(), e.zoneKey))
	}
}

// addNodeTerm inserts the hostname's term before the terms of r. apart is true if the zone's
// term already keeps members on different nodes.
func (e evaluation) addNodeTerm(r *Result, apart bool) {
	if e.own(HostnameKey) {
		r.Notes = append(r.Notes, ownTerm(HostnameKey))
		return
	}
	if apart {
		return
	}
	term := Term{Kind: PodAntiAffinity, TopologyKey: HostnameKey}
	if e.required && (e.size <= e.nodes.count() || e.nodes.empty() && !e.volumes.anyTied()) {
		why := e.whyNodeNotRequired()
		if why != nil && !slices.Contains(r.Notes, *why) {
			r.Notes = append(r.Notes, *why)
		}
		term.Hard = why == nil
	}
	if e.besideOwn(term, r) {
		r.Terms = slices.Insert(r.Terms, 0, term)
	}
}

// own reports whether the pod's own terms decide about a key. A preferred one does only where the
// policy prefers, too.
func (e evaluation) own(key string) bool {
	return slices.Contains(e.ownKeys, key) || !e.required && slices.Contains(e.softKeys, key)
}

// besideOwn reports whether a term is added. A preferred one adds nothing to a preferred one of the
// pod, and the API server refuses two spread constraints of the same key and firmness.
func (e evaluation) besideOwn(term Term, r *Result) bool {
	if term.Hard || !slices.Contains(e.softKeys, term.TopologyKey) {
		return true
	}
	r.Notes = append(r.Notes, ownTerm(term.TopologyKey))
	return false
}

func ownTerm(key string) policy.Note {
	return policy.NewNote(OwnTerm, "the pod's own term for %s is kept and nothing is injected for that key", key)
}
