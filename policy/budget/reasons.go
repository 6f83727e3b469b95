// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import "github.com/kubectl-etcd/kubectl-etcd/policy"

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

func BudgetReasons() []policy.ReasonDoc {
	const rule = "Budget"
	return []policy.ReasonDoc{
		{SingleMember, rule, "The cluster has one member or none. A budget can't keep a single member available, it could only block the drain of its node: minAvailable is 0."},
		{policy.ClientTrafficCut, rule, "Client traffic is cut. A member that restarts can't rejoin until it is restored, so no pod may be evicted."},
		{policy.FactsStale, rule, "No member's lease is fresh and the operator's conditions are too old to prove anything. Until something is known again, or the policy's staleLimit has passed, no pod may be evicted."},
		{FactsStaleTooLong, rule, "Nothing has been known of the members for longer than the policy's staleLimit. Unready pods may be evicted as long as a quorum of pods is Ready; no Ready pod may."},
		{policy.BackupFailing, rule, "Backups fail while every member is ready. No pod may be evicted until they succeed again, or the policy's backupHoldLimit has passed."},
		{BackupFailingTooLong, rule, "Backups have been failing for longer than the policy's backupHoldLimit. Evictions are possible again down to the quorum; what is lost now may not be in any backup."},
		{policy.AllReady, rule, "Every member is ready and so is its pod: evictions are possible down to the quorum."},
		{QuorumAtRisk, rule, "Fewer members than a quorum are ready with a Ready pod. No pod may be evicted, whatever its state, because it may be the one that brings the quorum back."},
		{policy.MemberDown, rule, "A member is down and the others are a quorum. Its unready pod may be evicted, no Ready one may."},
		{PodNotReady, rule, "Every member is ready but a pod is not Ready: a member that just started, or one that is about to fail. No pod may be evicted until the two agree."},
		{MemberNotReady, rule, "A member is not ready though its pod is Ready. The disruption controller would count that pod as healthy, so no pod may be evicted until the two agree."},
		{policy.ConditionFalse, rule, "AllMembersReady is False although leases and pods show every member well. No pod may be evicted until the condition follows or is too old to prove anything."},
		{policy.BackupUnknown, rule, "It has been unknown for longer than a grace period whether backups succeed. It no longer holds evictions back; look at the backup store and at the operator."},
		{EvenSize, rule, "An even number of members tolerates no more failures than one member less would."},
		{TwoMembers, rule, "Two members tolerate no failure: every eviction is refused, so a node drain waits. Scale to three members, or to one."},
	}
}
