// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package spread is the rule about where members run: which terms keep them in different zones
// or on different nodes. Its table is docs/rules/spread.md.
package spread

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// Topology is what members are spread over.
type Topology string

// The topologies. Auto means Zone if the nodes have two or more zones, otherwise Hostname. If no node matches
// yet, all nodes of the cluster count.
const (
	TopologyAuto     Topology = "Auto"
	TopologyZone     Topology = "Zone"
	TopologyHostname Topology = "Hostname"
)

// Enforcement is whether a member stays Pending if it can't be spread.
type Enforcement string

// The enforcements.
const (
	Required  Enforcement = "Required"
	Preferred Enforcement = "Preferred"
)

// Form is the field of the pod that expresses the zone spread.
type Form string

// The forms. DEP-01 literally describes AntiAffinity.
const (
	FormTopologySpread Form = "TopologySpread"
	FormAntiAffinity   Form = "AntiAffinity"
)

// The well-known topology keys.
const (
	HostnameKey = "kubernetes.io/hostname"
	ZoneKey     = "topology.kubernetes.io/zone"
)

// Settings are the settings of an EtcdTopologyPolicy for spread.
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
	Zone string // empty if the node has no zone label
}

// VolumeState is the state of the volume that a member's ordinal uses.
type VolumeState string

// The volume states. The zero value means that the member has no persistent volume.
const (
	NoVolume VolumeState = ""
	// Bound volumes restrict their member to Volume.Nodes.
	Bound VolumeState = "Bound"
	// UnboundImmediate volumes will be placed without the scheduler.
	UnboundImmediate VolumeState = "UnboundImmediate"
	// UnboundWaiting volumes are placed where the scheduler puts the pod.
	UnboundWaiting VolumeState = "UnboundWaiting"
)

// Volume is the volume of one ordinal.
type Volume struct {
	State VolumeState
	// Nodes are the names of the nodes that a bound volume's node affinity admits.
	Nodes []string
	// AnyNode is true for a bound volume without node affinity.
	AnyNode bool
}

// Facts are the facts about a member's pod that is about to be created.
type Facts struct {
	// Size is that of [policy.Cluster].
	Size int
	// Ordinal is the pod's ordinal, -1 if it has none.
	Ordinal int
	// Nodes are the nodes that match the pod's node selector, node affinity and tolerations.
	// They include cordoned and NotReady nodes, which may become available again.
	Nodes []Node
	// ClusterZones is how many zones all nodes of the Kubernetes cluster have. It is read only if no node
	// matches: a pool that is scaled to zero has zone labels if other nodes have them.
	ClusterZones int
	// Volumes are those of the ordinals 0 to Size-1. Ordinals beyond the slice have none. A
	// claim that will be created from a template counts as unbound.
	Volumes []Volume
	// Ordered is true if a member is started only after those with lower ordinals are ready,
	// as by a StatefulSet with podManagementPolicy OrderedReady.
	Ordered bool
	// OwnKeys are the topology keys of the pod's own required terms: of anti-affinity and of
	// spread constraints that select its own cluster.
	OwnKeys []string
	// OwnSoftKeys are those of its own preferred terms.
	OwnSoftKeys []string
	// RequiredBy are the running members with a required anti-affinity, by its topology key. It also
	// keeps new members away, whatever these get. It is read only where there are more members than
	// nodes or zones.
	RequiredBy map[string][]string
}

// TermKind is the field of a pod that has a term.
type TermKind string

// The kinds of terms.
const (
	PodAntiAffinity TermKind = "PodAntiAffinity"
	TopologySpread  TermKind = "TopologySpread"
)

// Term is one scheduling term to inject. The caller adds the selector.
type Term struct {
	Kind        TermKind
	TopologyKey string
	// Hard is required anti-affinity or DoNotSchedule; otherwise weight 100 or ScheduleAnyway.
	Hard bool
	// MinDomains is that of a hard TopologySpread, 0 for none.
	MinDomains int
}

// Result is the terms that a member's pod gets. The zero value injects nothing.
type Result struct {
	// Topology is the one by which running members are judged, never Auto.
	Topology Topology
	Terms    []Term
	Notes    []policy.Note
}

// Evaluate returns the scheduling terms that a member's pod gets. The table in
// docs/rules/spread.md has a row for each case. Terms are only added: the pod's own remain.
func Evaluate(f Facts, s Settings) Result {
	e := newEvaluation(f, s)
	r := Result{Topology: e.topology}
	if e.nodes.empty() && s.Topology != TopologyZone {
		r.Topology = TopologyHostname
	}
	if f.Size <= 1 {
		return r
	}
	r.Notes = e.topologyNotes()
	apart := e.addZoneTerm(&r)
	e.addNodeTerm(&r, apart)
	if n := e.zoneHoldsQuorum(); n != nil {
		r.Notes = append(r.Notes, *n)
	}
	return r
}
