// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
)

// zoneObstacle is why this member's zone term can't be required, nil if it can.
func (a arrangement) zoneObstacle(kind TermKind) *Note {
	if kind == TopologySpread && a.n <= len(a.zone) && !a.balanced(a.n) {
		return &Note{ZonesTooSmall, fmt.Sprintf("%d members on different nodes don't fit %d zones evenly (%s): even zones are preferred, not required; add nodes to the smallest zone", a.n, len(a.names), a.sizes())}
	}
	switch a.volume(a.ordinal) {
	case UnboundImmediate:
		return &Note{VolumeUnplaced, fmt.Sprintf("member %d: its volume will be placed without asking the scheduler: the zone is preferred, not required; a storage class with WaitForFirstConsumer avoids it", a.ordinal)}
	case Bound:
		return a.boundObstacle(kind)
	case NoVolume, UnboundWaiting:
	}
	return nil
}

func (a arrangement) boundObstacle(kind TermKind) *Note {
	mine := a.reach[a.ordinal]
	switch {
	case len(mine.hosts) == 0:
		return a.nowhere()
	case kind == TopologySpread && a.zoneTaken(a.ordinal),
		kind == PodAntiAffinity && a.takenBothWays(a.ordinal, a.boundZones):
		return &Note{VolumeZoneTaken, fmt.Sprintf("member %d: its volume is bound to %s, where other members may be: the zone is preferred for it, not required; a new volume can be placed in a free zone", a.ordinal, a.zonesOf(mine))}
	}
	return nil
}

// hostObstacle is whether this member's hostname term can't be required, and
// why unless that is known already.
func (a arrangement) hostObstacle() (*Note, bool) {
	if a.volume(a.ordinal) != Bound || !a.takenBothWays(a.ordinal, a.boundHosts) {
		return nil, false
	}
	if n := len(a.reach[a.ordinal].hosts); n > 0 {
		return &Note{VolumeNodeTaken, fmt.Sprintf("member %d: its volume is bound to %d of %d nodes that match, where other members may be: a node of its own is preferred for it, not required; a new volume can be placed on a free node", a.ordinal, n, len(a.zone))}, true
	}
	return a.nowhere(), true
}

func (a arrangement) nowhere() *Note {
	return &Note{VolumeNowhere, fmt.Sprintf("member %d: its volume admits none of the %d nodes that match the pod: no scheduling term can help; look at the volume's node affinity and the pod's node selector", a.ordinal, len(a.zone))}
}

// sizes are the zones with their nodes, for people.
func (a arrangement) sizes() string {
	return list(len(a.names), func(i int) string {
		return fmt.Sprintf("%s: %d nodes", a.names[i], a.hosts[i])
	})
}

func (a arrangement) zonesOf(r reach) string {
	if len(r.zones) == 0 {
		return "nodes without a zone"
	}
	return list(len(r.zones), func(i int) string { return a.names[r.zones[i]] })
}

// list joins the first few of n words.
func list(n int, word func(int) string) string {
	const listed = 5
	var words []string
	for i := range min(n, listed) {
		words = append(words, word(i))
	}
	if n > listed {
		words = append(words, fmt.Sprintf("and %d more", n-listed))
	}
	return strings.Join(words, ", ")
}
