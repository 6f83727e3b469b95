// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// The reasons that several rules give.
const (
	ClientTrafficCut  = "ClientTrafficCut"
	FactsStale        = "FactsStale"
	BackupFailing     = "BackupFailing"
	AllReady          = "AllReady"
	MemberDown        = "MemberDown"
	ConditionFalse    = "ConditionFalse"
	BackupUnknown     = "BackupUnknown"
	LearnerPresent    = "LearnerPresent"
	OperationUnderWay = "OperationUnderWay"
	CuresMember       = "CuresMember"
	QuorumKept        = "QuorumKept"
	NoQuorum          = "NoQuorum"
	NoSuchMember      = "NoSuchMember"
	CatchingUp        = "CatchingUp"
)

// The reasons of the budget's verdicts and notes.
const (
	SingleMember         = "SingleMember"
	FactsStaleTooLong    = "FactsStaleTooLong"
	BackupFailingTooLong = "BackupFailingTooLong"
	QuorumAtRisk         = "QuorumAtRisk"
	PodNotReady          = "PodNotReady"
	MemberNotReady       = "MemberNotReady"
	EvenSize             = "EvenSize"
	TwoMembers           = "TwoMembers"
)

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

// The reasons of verdicts and steps about membership.
const (
	QuorumWouldBeLost = "QuorumWouldBeLost"
	LastMember        = "LastMember"
	VoterDown         = "VoterDown"
	StrangerMember    = "StrangerMember"
	MemberGap         = "MemberGap"
	UnknownOperation  = "UnknownOperation"
	NotObserved       = "NotObserved"
	PodGoing          = "PodGoing"
)

// The reasons of verdicts about maintenance.
const (
	SnapshotOpen     = "SnapshotOpen"
	SnapshotsUnknown = "SnapshotsUnknown"
	CorruptAlarm     = "CorruptAlarm"
	CuresNoSpace     = "CuresNoSpace"
	LeadsAlready     = "LeadsAlready"
	DatabaseFull     = "DatabaseFull"
	SpaceFree        = "SpaceFree"
	QuotaUnknown     = "QuotaUnknown"
)

// ReasonDoc says in plain words what a reason means.
type ReasonDoc struct {
	Reason string
	// Rule is the rule that gives it: Spread, Budget, Membership or Maintenance.
	Rule string
	Doc  string
}

// Reasons are all reasons of all rules, in the order of the rules' tables.
func Reasons() []ReasonDoc {
	return slices.Concat(budgetReasons(), spreadReasons(), membershipReasons(), maintenanceReasons())
}

func budgetReasons() []ReasonDoc {
	const rule = "Budget"
	return []ReasonDoc{
		{SingleMember, rule, "The cluster has one member or none. A budget can't keep a single member available, it could only block the drain of its node: minAvailable is 0."},
		{ClientTrafficCut, rule, "Client traffic is cut. A member that restarts can't rejoin until it is restored, so no pod may be evicted."},
		{FactsStale, rule, "No member's lease is fresh and the operator's conditions are too old to prove anything. Until something is known again, or the policy's staleLimit has passed, no pod may be evicted."},
		{FactsStaleTooLong, rule, "Nothing has been known of the members for longer than the policy's staleLimit. Unready pods may be evicted as long as a quorum of pods is Ready; no Ready pod may."},
		{BackupFailing, rule, "Backups fail while every member is ready. No pod may be evicted until they succeed again, or the policy's backupHoldLimit has passed."},
		{BackupFailingTooLong, rule, "Backups have been failing for longer than the policy's backupHoldLimit. Evictions are possible again down to the quorum; what is lost now may not be in any backup."},
		{AllReady, rule, "Every member is ready and so is its pod: evictions are possible down to the quorum."},
		{QuorumAtRisk, rule, "Fewer members than a quorum are ready with a Ready pod. No pod may be evicted, whatever its state, because it may be the one that brings the quorum back."},
		{MemberDown, rule, "A member is down and the others are a quorum. Its unready pod may be evicted, no Ready one may."},
		{PodNotReady, rule, "Every member is ready but a pod is not Ready: a member that just started, or one that is about to fail. No pod may be evicted until the two agree."},
		{MemberNotReady, rule, "A member is not ready though its pod is Ready. The disruption controller would count that pod as healthy, so no pod may be evicted until the two agree."},
		{ConditionFalse, rule, "AllMembersReady is False although leases and pods show every member well. No pod may be evicted until the condition follows or is too old to prove anything."},
		{BackupUnknown, rule, "It has been unknown for longer than a grace period whether backups succeed. It no longer holds evictions back; look at the backup store and at the operator."},
		{EvenSize, rule, "An even number of members tolerates no more failures than one member less would."},
		{TwoMembers, rule, "Two members tolerate no failure: every eviction is refused, so a node drain waits. Scale to three members, or to one."},
	}
}

func spreadReasons() []ReasonDoc {
	const rule = "Spread"
	return []ReasonDoc{
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

func membershipReasons() []ReasonDoc {
	const rule = "Membership"
	return []ReasonDoc{
		{QuorumKept, rule, "The voters that are left keep a quorum of healthy ones: the change may go ahead."},
		{QuorumWouldBeLost, rule, "Without that member fewer voters would be healthy than are a quorum of those left. Bring a member back first; a dead one goes before a healthy one."},
		{NoQuorum, rule, "Fewer voters are healthy than are a quorum, so etcd agrees to nothing, no change of its members either. Bring a member back; its data is worth more than its place."},
		{LastMember, rule, "It is the only voter. Without it there is no cluster."},
		{NoSuchMember, rule, "No member with that ID, name and peer URL is in etcd's list any more."},
		{VoterDown, rule, "A voter does not answer. etcd adds no member while one is down, and no healthy one should go: restart, replace or remove the dead one first."},
		{LearnerPresent, rule, "A learner is there that this operation has not added. It is promoted or removed first: etcd takes one at a time."},
		{StrangerMember, rule, "etcd lists a member whose peer URL no pod of this cluster has: a leftover, or another cluster's. Remove it once you know what it is."},
		{MemberGap, rule, "A place below the highest member has no member, and a StatefulSet can't leave one out: replace that pod's member first."},
		{OperationUnderWay, rule, "A scale, rollout or replacement is under way, by the owner's operator or by this plugin. Wait until it is over, or finish it."},
		{UnknownOperation, rule, "The journal names an operation that this version of the plugin does not know. Use the version that began it."},
		{CuresMember, rule, "The act removes or replaces the member that is broken, so its being broken is no reason against it."},
		{CatchingUp, rule, "The new member is a learner and is still behind its leader. It gets its vote after three reads within 1,000 entries."},
		{NotObserved, rule, "Kubernetes' StatefulSet controller has not yet acted on the last change."},
		{PodGoing, rule, "A pod or its volume claims are still being taken away or made."},
	}
}

func maintenanceReasons() []ReasonDoc {
	const rule = "Maintenance"
	return []ReasonDoc{
		{SnapshotOpen, rule, "Somebody reads a snapshot from a member: a backup, or a person. A defragmentation of that member waits for it, and every write waits for the defragmentation. Try again when the snapshot is over."},
		{SnapshotsUnknown, rule, "A member's metrics can't be read, so it is not known whether a snapshot is being read from it."},
		{CorruptAlarm, rule, "etcd has found that a member's data differ from the others'. Find that member (kubectl etcd check) and replace it; no other maintenance helps."},
		{CuresNoSpace, rule, "A database has reached its quota and etcd takes no writes (alarm NOSPACE). Defragmentation is the cure, so backups that fail meanwhile are no reason against it."},
		{LeadsAlready, rule, "The member is the leader already."},
		{DatabaseFull, rule, "More than 90 % of the quota would still be taken, so the alarm would be raised again by one of the next writes. Defragment, delete keys, or raise the quota."},
		{SpaceFree, rule, "Every database has room again: the alarm may go."},
		{QuotaUnknown, rule, "A member says its quota neither in its status (before etcd 3.6) nor in its metrics."},
	}
}
