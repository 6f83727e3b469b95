// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

// The reasons of the budget's verdicts, one for each row of its table.
const (
	SingleMember         = "SingleMember"
	ClientTrafficCut     = "ClientTrafficCut"
	FactsStale           = "FactsStale"
	FactsStaleTooLong    = "FactsStaleTooLong"
	BackupFailing        = "BackupFailing"
	BackupFailingTooLong = "BackupFailingTooLong"
	AllReady             = "AllReady"
	QuorumAtRisk         = "QuorumAtRisk"
	MemberDown           = "MemberDown"
	PodNotReady          = "PodNotReady"
	MemberNotReady       = "MemberNotReady"
	ConditionFalse       = "ConditionFalse"
)

// The reasons of the budget's notes, beside those of its verdicts.
const (
	BackupUnknown = "BackupUnknown"
	EvenSize      = "EvenSize"
	TwoMembers    = "TwoMembers"
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

// ReasonDoc says in plain words what a reason means.
type ReasonDoc struct {
	Reason string
	// Rule is the rule that gives it: Spread or Budget.
	Rule string
	Doc  string
}

// Reasons are all reasons of all rules, in the order of the rules' tables.
func Reasons() []ReasonDoc {
	return append(budgetReasons(), spreadReasons()...)
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
