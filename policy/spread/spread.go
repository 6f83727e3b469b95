// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package spread is the rule about where members run: which terms keep them in different zones
// or on different nodes. Its table is docs/rules/spread.md.
package spread

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// Topology says over what members are spread.
type Topology string

// The topologies. Auto is Zone where the nodes show two or more zones, else Hostname.
const (
	TopologyAuto     Topology = "Auto"
	TopologyZone     Topology = "Zone"
	TopologyHostname Topology = "Hostname"
)

// Enforcement says whether a member stays Pending rather than break the spread.
type Enforcement string

// The enforcements.
const (
	Required  Enforcement = "Required"
	Preferred Enforcement = "Preferred"
)

// Form says by which field of the pod the zone spread is expressed.
type Form string

// The forms. AntiAffinity is DEP-01's literal one.
const (
	FormTopologySpread Form = "TopologySpread"
	FormAntiAffinity   Form = "AntiAffinity"
)

// The well-known topology keys.
const (
	HostnameKey = "kubernetes.io/hostname"
	ZoneKey     = "topology.kubernetes.io/zone"
)

// Settings are what an EtcdTopologyPolicy says of spread.
type Settings struct {
	Topology    Topology
	Enforcement Enforcement
	Form        Form
	// ZoneKey is the node label that names the zone.
	ZoneKey string
}

// Node is a node that members may run on.
type Node struct {
	Name string
	Zone string // empty when the node has no zone label
}

// VolumeState is what is known of the volume that a member's ordinal uses.
type VolumeState string

// The volume states. The zero value is a member without a persistent volume.
const (
	NoVolume VolumeState = ""
	// Bound volumes tie their member to Volume.Nodes.
	Bound VolumeState = "Bound"
	// UnboundImmediate volumes will be placed without asking the scheduler.
	UnboundImmediate VolumeState = "UnboundImmediate"
	// UnboundWaiting volumes are placed where the scheduler puts the pod.
	UnboundWaiting VolumeState = "UnboundWaiting"
)

// Volume is the volume of one ordinal.
type Volume struct {
	State VolumeState
	// Nodes are, for a bound volume, the names of the Places that its node
	// affinity admits.
	Nodes []string
}

// Facts are what the spread rule knows of a member's pod about to be created.
type Facts struct {
	// Size as in Cluster.
	Size int
	// Ordinal of the pod, -1 when it has none.
	Ordinal int
	// Nodes are the nodes that match the pod's node selector, node affinity
	// and tolerations. Cordoned and NotReady nodes count: they come back.
	Nodes []Node
	// Volumes are those of ordinals 0 to Size-1. Shorter or nil: no volumes. A
	// claim that is still to be made from a template counts as unbound.
	Volumes []Volume
	// Ordered says that a member is only started when those of lower ordinals
	// are ready, as a StatefulSet with podManagementPolicy OrderedReady does.
	Ordered bool
	// OwnKeys are the topology keys that the pod's own terms already rule,
	// by anti-affinity or by a spread constraint that select its own cluster.
	OwnKeys []string
}

// TermKind is the field of a pod that a term stands in.
type TermKind string

// The kinds of terms.
const (
	PodAntiAffinity TermKind = "PodAntiAffinity"
	TopologySpread  TermKind = "TopologySpread"
)

// Term is one scheduling term to inject. The selector is not the rule's affair.
type Term struct {
	Kind        TermKind
	TopologyKey string
	// Hard is required anti-affinity or DoNotSchedule; otherwise weight 100 or ScheduleAnyway.
	Hard bool
	// MinDomains of a hard TopologySpread, 0 for none.
	MinDomains int
}

// Result says which terms a member's pod gets. The zero value injects nothing.
type Result struct {
	// Topology is what the settings came to, never Auto.
	Topology Topology
	Terms    []Term
	Notes    []policy.Note
}

// Evaluate decides which scheduling terms a member's pod gets. The table in
// docs/rules/spread.md has a row for each case. The terms of the pod itself
// stay: terms are only added to them.
func Evaluate(f Facts, s Settings) Result {
	e := newEvaluation(f, s)
	r := Result{Topology: e.topology}
	if f.Size <= 1 {
		return r
	}
	r.Notes = e.topologyNotes()
	apart := e.addZoneTerm(&r)
	e.addNodeTerm(&r, apart)
	return r
}
