// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// note returns a note's address, for functions that return nil for none.
func note(reason policy.Reason, format string, args ...any) *policy.Note {
	n := policy.NewNote(reason, format, args...)
	return &n
}

// topologyNotes returns the notes on the nodes and zones.
func (e evaluation) topologyNotes() []policy.Note {
	var notes []policy.Note
	switch {
	case e.nodes.empty():
		notes = append(notes, policy.NewNote(NoMatchingNode, "no node matches the pod's node selector, node affinity and tolerations: members wait until there are nodes%s", e.whyMayShare()))
	case e.size > e.nodes.count():
		notes = append(notes, policy.NewNote(MembersExceedHosts, "%d members but %d nodes that match: %s; add nodes to keep them apart", e.size, e.nodes.count(), e.whoShares()))
	}
	switch {
	case e.auto && len(e.nodes.zones) == 1 && e.size > 1:
	case e.topology != TopologyZone:
		return notes
	case e.nodes.empty():
		if e.clusterZones == 0 {
			notes = append(notes, policy.NewNote(NoZones, "no node of the cluster has the label %s: even zones are preferred, not required", e.zoneKey))
		}
		return notes
	}
	switch len(e.nodes.zones) {
	case 0:
		notes = append(notes, policy.NewNote(NoZones, "none of %d nodes that match has the label %s: members are spread over nodes only", e.nodes.count(), e.zoneKey))
	case 1:
		notes = append(notes, policy.NewNote(OneZone, "all nodes that match and have the label %s are in %s: all members share that zone", e.zoneKey, e.nodes.zones[0]))
	}
	return notes
}

// whyMayShare returns why members may share a node when nodes come, empty if they may not or the policy
// allows it.
func (e evaluation) whyMayShare() string {
	if e.required && e.volumes.anyTied() {
		return "; their volumes may be bound where there are fewer nodes than members, so different nodes are preferred, not required"
	}
	return ""
}

// whoShares returns which members share nodes, or why new ones can't.
func (e evaluation) whoShares() string {
	held := e.requiredBy[HostnameKey]
	switch {
	case slices.Contains(e.ownKeys, HostnameKey) && len(held) > 0:
		return fmt.Sprintf("the pods' own terms require different nodes, %s, so other members wait", policy.Names(held, "has one", "have one each"))
	case slices.Contains(e.ownKeys, HostnameKey):
		return fmt.Sprintf("the pods' own terms require different nodes, so %s will wait", policy.Count(e.size-e.nodes.count(), "member"))
	case len(held) > 0:
		return policy.Names(held, "requires its own node", "require their own nodes") + " until recreated, so other members may wait"
	}
	return "some must share a node"
}

// zoneHoldsQuorum returns a note if one zone has so many members that its loss takes the quorum: the
// members are even over too few zones, or their volumes are there. It returns nil for one zone, which has
// its own note.
func (e evaluation) zoneHoldsQuorum() *policy.Note {
	zones := len(e.nodes.zones)
	if zones < 2 {
		return nil
	}
	if share := (e.size + zones - 1) / zones; e.topology == TopologyZone && holdsQuorum(share, e.size) {
		return note(ZoneHoldsQuorum, "%d members in %d zones: one zone has %d of them, and its loss takes the quorum; nodes in another zone would prevent that", e.size, zones, share)
	}
	for zone, bound := range e.volumes.boundIn() {
		if holdsQuorum(bound, e.size) {
			return note(ZoneHoldsQuorum, "the volumes of %d of %d members are in zone %s, and its loss takes the quorum; a new volume of one of them in another zone would prevent that", bound, e.size, e.nodes.zones[zone])
		}
	}
	return nil
}

// holdsQuorum reports whether the loss of a zone that has several of the members takes the quorum.
func holdsQuorum(inZone, size int) bool {
	return inZone > 1 && size-inZone < policy.Quorum(size)
}

// whyNoAntiAffinity returns why anti-affinity over zones is not used although the policy asks for
// it. It returns nil if it is used.
func (e evaluation) whyNoAntiAffinity() *policy.Note {
	zones := len(e.nodes.zones)
	if e.size <= zones {
		return nil
	}
	wait := ""
	if held := e.requiredBy[e.zoneKey]; len(held) > 0 {
		wait = "; " + policy.Names(held, "requires its own zone", "require their own zones") + " until recreated, so other members may wait"
	}
	return note(MembersExceedZones, "%d members but %d zones: anti-affinity over %s would leave %d of them unscheduled forever, so a spread constraint is used instead%s", e.size, zones, e.zoneKey, e.size-zones, wait)
}

// whyZoneNotRequired returns why this member's zone term can't be required, nil
// if it can.
func (e evaluation) whyZoneNotRequired(kind TermKind) *policy.Note {
	if e.nodes.empty() {
		return nil
	}
	if kind == TopologySpread && e.size <= e.nodes.count() && !e.nodes.balanced(e.size) {
		return note(ZonesTooSmall, "%d members on different nodes don't fit %d zones evenly (%s): even zones are preferred, not required; add nodes to the smallest zone", e.size, len(e.nodes.zones), e.zoneSizes())
	}
	switch e.volumes.stateOf(e.ordinal) {
	case UnboundImmediate:
		return note(VolumeUnplaced, "member %d: the scheduler does not choose the zone of its volume, so the zone is preferred, not required; a storage class with WaitForFirstConsumer avoids this", e.ordinal)
	case Bound:
		return e.whyBoundZoneNotRequired(kind)
	case NoVolume, UnboundWaiting:
	}
	return nil
}

func (e evaluation) whyBoundZoneNotRequired(kind TermKind) *policy.Note {
	mine := e.volumes.feasible[e.ordinal]
	switch {
	case len(mine.nodes) == 0:
		return e.noFeasibleNode()
	case kind == TopologySpread && e.volumes.zoneCanBlock(e.ordinal),
		kind == PodAntiAffinity && e.volumes.canBlockEitherWay(e.ordinal, e.volumes.feasibleZones):
		return note(VolumeZoneTaken, "member %d: its volume is bound to %s, where other members may be: the zone is preferred for it, not required; a new volume can be placed in a free zone", e.ordinal, e.zonesOf(mine))
	}
	return nil
}

// whyNodeNotRequired returns why this member's hostname term can't be required,
// nil if it can.
func (e evaluation) whyNodeNotRequired() *policy.Note {
	if e.nodes.empty() || e.volumes.stateOf(e.ordinal) != Bound || !e.volumes.canBlockEitherWay(e.ordinal, e.volumes.feasibleNodes) {
		return nil
	}
	if n := len(e.volumes.feasible[e.ordinal].nodes); n > 0 {
		return note(VolumeNodeTaken, "member %d: its volume is bound to %d of %d nodes that match, where other members may be: a different node is preferred for it, not required; a new volume can be placed on a free node", e.ordinal, n, e.nodes.count())
	}
	return e.noFeasibleNode()
}

func (e evaluation) noFeasibleNode() *policy.Note {
	return note(VolumeNowhere, "member %d: its volume admits none of the %d nodes that match the pod: no scheduling term can help; check the volume's node affinity and the pod's node selector", e.ordinal, e.nodes.count())
}

// zoneSizes lists the zones with the number of their nodes.
func (e evaluation) zoneSizes() string {
	return policy.Items(len(e.nodes.zones), func(i int) string {
		return fmt.Sprintf("%s: %d nodes", e.nodes.zones[i], e.nodes.nodesIn[i])
	})
}

func (e evaluation) zonesOf(f feasible) string {
	if len(f.zones) == 0 {
		return "nodes without a zone"
	}
	return policy.Items(len(f.zones), func(i int) string { return e.nodes.zones[f.zones[i]] })
}
