// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package spread

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of the spread's notes.
var (
	NoMatchingNode = reasons.Add("NoMatchingNode",
		"No node matches the pod's node selector, node affinity and tolerations. Members wait until there are nodes, and are spread over them then.",
		"If the nodes are made when pods wait for them, no action is needed. Otherwise compare the pod's nodeSelector, affinity and tolerations with kubectl get nodes --show-labels.")
	NoZones = reasons.Add("NoZones",
		"The policy asks for zones, but no matching node has the zone label, or none matches and no node of the cluster has it. Members are spread over nodes only, or zones are only preferred.",
		"Label the nodes with topology.kubernetes.io/zone, or set the policy's topology to Hostname.")
	OneZone = reasons.Add("OneZone",
		"The policy asks for zones, but all matching nodes are in one zone. If it fails, all members fail.",
		"Add nodes in other zones, or set the policy's topology to Hostname to accept it.")
	ZoneHoldsQuorum = reasons.Add("ZoneHoldsQuorum",
		"One zone has so many members that its loss takes the quorum: there are too few zones, or the members' volumes are in that zone.",
		"Add nodes in another zone, and use topology Zone. A member moves there when its pod is recreated, if its data is on a volume that can follow. If it isn't, the member must be replaced. kubectl etcd check NAME --only placement shows how each member moves.")
	MembersExceedHosts = reasons.Add("MembersExceedHosts",
		"There are more members than matching nodes, so some of them must share a node. Different nodes are preferred, not required. Members that run with a required term keep others off their nodes until they are created again.",
		"Add nodes, or scale down to at most as many members as there are nodes. To let members share nodes, delete the pods that the message names, one at a time, while all others are ready.")
	MembersExceedZones = reasons.Add("MembersExceedZones",
		"The policy asks for anti-affinity over zones, but there are more members than zones. Some members would never be scheduled, so a spread constraint is used instead.",
		"Set the policy's form to TopologySpread, or add a zone.")
	ZonesTooSmall = reasons.Add("ZonesTooSmall",
		"A zone has fewer nodes than its even share of members. The last members would never be scheduled, so even zones are preferred, not required.",
		"Add nodes to the zone that has too few.")
	NodesWithoutZone = reasons.Add("NodesWithoutZone",
		"Some matching nodes have no zone label. Members with a required zone spread can't be scheduled there.",
		"Label those nodes with topology.kubernetes.io/zone.")
	OwnTerm = reasons.Add("OwnTerm",
		"The pod already has a term for this topology key that selects its own cluster. That term remains, and nothing is injected for the key.",
		"If the term is intended, no action is needed. To get the policy's term, remove yours from the pod template.")
	VolumeNowhere = reasons.Add("VolumeNowhere",
		"The member's volume admits none of the nodes that match the pod. No scheduling term can help: the volume or the node selector must change.",
		"Compare the PersistentVolume's nodeAffinity with the nodes. If the node is gone permanently, kubectl etcd member replace POD -n NAMESPACE.")
	VolumeUnplaced = reasons.Add("VolumeUnplaced",
		"The member's volume is not bound yet, and the scheduler will not choose its zone. It may be placed in the zone of another member, so the zone is preferred, not required.",
		"Use a storage class with volumeBindingMode WaitForFirstConsumer for new clusters.")
	VolumeZoneTaken = reasons.Add("VolumeZoneTaken",
		"The member's volume is bound to zones where other members may run. With a required zone spread, the pod could stay Pending forever, so the zone is preferred.",
		"When all members are healthy, replace the member, so that it gets a volume in another zone: kubectl etcd member replace POD -n NAMESPACE --force.")
	VolumeNodeTaken = reasons.Add("VolumeNodeTaken",
		"The member's volume is bound to nodes where other members may run. With a required anti-affinity, the pod could stay Pending forever, so a different node is preferred.",
		"When all members are healthy, replace the member, so that it gets a volume on another node: kubectl etcd member replace POD -n NAMESPACE --force.")
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
		"When the cluster is healthy, delete one of that zone's pods. Admission spreads its replacement. If its volume prevents that: kubectl etcd member replace POD -n NAMESPACE --force.")
	NotScheduled = statusReasons.Add("NotScheduled",
		"A member's pod has no node yet.",
		"Find out why the scheduler finds none: kubectl describe pod POD.")
)
