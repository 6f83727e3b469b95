// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of the spread's notes.
var (
	NoPlaces = reasons.Add("NoPlaces",
		"No node matches the pod's node selector, node affinity and tolerations, so nothing can be counted: members are spread as well as possible, not strictly.",
		"Compare the pod's nodeSelector, affinity and tolerations with kubectl get nodes --show-labels.")
	NoZones = reasons.Add("NoZones",
		"Zones were asked for, but no node that matches has the zone label: members are spread over nodes only.",
		"Label the nodes with topology.kubernetes.io/zone, or set the policy's topology to Hostname.")
	OneZone = reasons.Add("OneZone",
		"Zones were asked for, but all nodes that match are in one: its failure takes every member.",
		"Add nodes in other zones, or set the policy's topology to Hostname to accept it.")
	MembersExceedHosts = reasons.Add("MembersExceedHosts",
		"There are more members than nodes that match, so two of them must share one: apart is preferred, not required.",
		"Add nodes, or scale down to at most as many members as there are nodes.")
	MembersExceedZones = reasons.Add("MembersExceedZones",
		"Anti-affinity over zones was asked for, but there are more members than zones, and those beyond would never be scheduled: the spread-constraint form is used instead.",
		"Set the policy's form to TopologySpread, or add a zone.")
	ZonesTooSmall = reasons.Add("ZonesTooSmall",
		"A zone has fewer nodes than its even share of members, so the last members would never be scheduled: even zones are preferred, not required.",
		"Add nodes to the zone that has too few.")
	NodesWithoutZone = reasons.Add("NodesWithoutZone",
		"Some nodes that match have no zone label. Members under a required zone spread can't be scheduled there.",
		"Label those nodes with topology.kubernetes.io/zone.")
	OwnTerm = reasons.Add("OwnTerm",
		"The pod already has a term for this topology key that selects its own cluster: it is kept, and nothing is injected for that key.",
		"If the term is intended, nothing. To get the policy's term, remove yours from the pod template.")
	VolumeNowhere = reasons.Add("VolumeNowhere",
		"The member's volume admits none of the nodes that match the pod. No scheduling term can help: the volume or the node selector has to change.",
		"Compare the PersistentVolume's nodeAffinity with the nodes. If the node is gone permanently, kubectl etcd member replace POD.")
	VolumeUnplaced = reasons.Add("VolumeUnplaced",
		"The member's volume is not bound yet and will be placed without asking the scheduler, so it may land in a zone that is taken: the zone is preferred, not required. A storage class with volumeBindingMode WaitForFirstConsumer avoids it.",
		"Use a storage class with volumeBindingMode WaitForFirstConsumer for new clusters.")
	VolumeZoneTaken = reasons.Add("VolumeZoneTaken",
		"The member's volume is bound to zones that other members may hold. It would wait for ever under a required zone spread, so the zone is preferred for it.",
		"When all members are healthy, replace the member, so that it gets a volume in another zone: kubectl etcd member replace POD --force.")
	VolumeNodeTaken = reasons.Add("VolumeNodeTaken",
		"The member's volume is bound to nodes that other members may hold. It would wait for ever under a required anti-affinity, so a node of its own is preferred for it.",
		"When all members are healthy, replace the member, so that it gets a volume on another node: kubectl etcd member replace POD --force.")
)

var statusReasons policy.ReasonList

// StatusReasons returns the reasons of a [Status] that the notes don't have.
func StatusReasons() []policy.Reason { return statusReasons.All() }

// The reasons of a status, beside those of the notes.
var (
	SpreadKept = statusReasons.Add("SpreadKept",
		"The cluster's members are spread as the policy requires.",
		policy.NoAction)
	NodeShared = statusReasons.Add("NodeShared",
		"Two members of the cluster run on one node.",
		"When the cluster is healthy, delete one of the two pods. Admission spreads its replacement.")
	ZonesUneven = statusReasons.Add("ZonesUneven",
		"A zone has more members of the cluster than the policy allows.",
		"When the cluster is healthy, delete one of that zone's pods. Admission spreads its replacement. If its volume prevents that: kubectl etcd member replace POD --force.")
	NotScheduled = statusReasons.Add("NotScheduled",
		"A member's pod has no node yet.",
		"kubectl describe pod shows why the scheduler finds none.")
)
