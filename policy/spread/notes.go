// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/format"
)

// whyZoneNotRequired is why this member's zone term can't be required, nil if it can.
func (a evaluation) whyZoneNotRequired(kind TermKind) *policy.Note {
	if kind == TopologySpread && a.n <= len(a.zone) && !a.balanced(a.n) {
		return &policy.Note{ZonesTooSmall, fmt.Sprintf("%d members on different nodes don't fit %d zones evenly (%s): even zones are preferred, not required; add nodes to the smallest zone", a.n, len(a.names), a.sizes())}
	}
	switch a.volume(a.ordinal) {
	case UnboundImmediate:
		return &policy.Note{VolumeUnplaced, fmt.Sprintf("member %d: its volume will be placed without asking the scheduler: the zone is preferred, not required; a storage class with WaitForFirstConsumer avoids it", a.ordinal)}
	case Bound:
		return a.whyBoundZoneNotRequired(kind)
	case NoVolume, UnboundWaiting:
	}
	return nil
}

func (a evaluation) whyBoundZoneNotRequired(kind TermKind) *policy.Note {
	mine := a.reach[a.ordinal]
	switch {
	case len(mine.hosts) == 0:
		return a.noFeasibleNode()
	case kind == TopologySpread && a.zoneCanBlock(a.ordinal),
		kind == PodAntiAffinity && a.canBlockEitherWay(a.ordinal, a.boundZones):
		return &policy.Note{VolumeZoneTaken, fmt.Sprintf("member %d: its volume is bound to %s, where other members may be: the zone is preferred for it, not required; a new volume can be placed in a free zone", a.ordinal, a.zonesOf(mine))}
	}
	return nil
}

// whyNodeNotRequired is whether this member's hostname term can't be required, and
// why unless that is known already.
func (a evaluation) whyNodeNotRequired() (*policy.Note, bool) {
	if a.volume(a.ordinal) != Bound || !a.canBlockEitherWay(a.ordinal, a.boundHosts) {
		return nil, false
	}
	if n := len(a.reach[a.ordinal].hosts); n > 0 {
		return &policy.Note{VolumeNodeTaken, fmt.Sprintf("member %d: its volume is bound to %d of %d nodes that match, where other members may be: a node of its own is preferred for it, not required; a new volume can be placed on a free node", a.ordinal, n, len(a.zone))}, true
	}
	return a.noFeasibleNode(), true
}

func (a evaluation) noFeasibleNode() *policy.Note {
	return &policy.Note{VolumeNowhere, fmt.Sprintf("member %d: its volume admits none of the %d nodes that match the pod: no scheduling term can help; look at the volume's node affinity and the pod's node selector", a.ordinal, len(a.zone))}
}

// sizes are the zones with their nodes, for people.
func (a evaluation) sizes() string {
	return format.List(len(a.names), func(i int) string {
		return fmt.Sprintf("%s: %d nodes", a.names[i], a.hosts[i])
	})
}

func (a evaluation) zonesOf(r feasible) string {
	if len(r.zones) == 0 {
		return "nodes without a zone"
	}
	return format.List(len(r.zones), func(i int) string { return a.names[r.zones[i]] })
}
