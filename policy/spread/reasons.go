// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// The reasons of the spread's notes.
const (
	NoPlaces           = "NoPlaces"
	NoZones            = "NoZones"
	OneZone            = "OneZone"
	MembersExceedHosts = "MembersExceedHosts"
	MembersExceedZones = "MembersExceedZones"
	ZonesTooSmall      = "ZonesTooSmall"
	NodesWithoutZone   = "NodesWithoutZone"
	OwnTerm            = "OwnTerm"
	VolumeNowhere      = "VolumeNowhere"
	VolumeUnplaced     = "VolumeUnplaced"
	VolumeZoneTaken    = "VolumeZoneTaken"
	VolumeNodeTaken    = "VolumeNodeTaken"
)

func SpreadReasons() []policy.ReasonDoc {
	const rule = "Spread"
	return []policy.ReasonDoc{
		{NoPlaces, rule, "No node matches the pod's node selector, node affinity and tolerations, so nothing can be counted: members are spread as well as possible, not strictly."},
		{NoZones, rule, "Zones were asked for, but no node that matches has the zone label: members are spread over nodes only."},
		{OneZone, rule, "Zones were asked for, but all nodes that match are in one: its failure takes every member."},
		{MembersExceedHosts, rule, "There are more members than nodes that match, so two of them must share one: apart is preferred, not required."},
		{MembersExceedZones, rule, "Anti-affinity over zones was asked for, but there are more members than zones, and those beyond would never be scheduled: the spread-constraint form is used instead."},
		{ZonesTooSmall, rule, "A zone has fewer nodes than its even share of members, so the last members would never be scheduled: even zones are preferred, not required."},
		{NodesWithoutZone, rule, "Some nodes that match have no zone label. Members under a required zone spread can't be scheduled there."},
		{OwnTerm, rule, "The pod already has a term for this topology key that selects its own cluster: it is kept, and nothing is injected for that key."},
		{VolumeNowhere, rule, "The member's volume admits none of the nodes that match the pod. No scheduling term can help: the volume or the node selector has to change."},
		{VolumeUnplaced, rule, "The member's volume is not bound yet and will be placed without asking the scheduler, so it may land in a zone that is taken: the zone is preferred, not required. A storage class with volumeBindingMode WaitForFirstConsumer avoids it."},
		{VolumeZoneTaken, rule, "The member's volume is bound to zones that other members may hold. It would wait for ever under a required zone spread, so the zone is preferred for it."},
		{VolumeNodeTaken, rule, "The member's volume is bound to nodes that other members may hold. It would wait for ever under a required anti-affinity, so a node of its own is preferred for it."},
	}
}
