// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of the budget's verdicts, one for each row of its table, and then those of its notes.
var (
	SingleMember = reasons.Add("SingleMember",
		"The cluster has one member or none. A budget can't keep a single member available, it could only block the drain of its node: minAvailable is 0.",
		"Expect an interruption when its node is drained, or scale to three members: kubectl etcd scale NAME --replicas 3.")
	_                 = reasons.Include(policy.ClientTrafficCut)
	_                 = reasons.Include(policy.FactsStale)
	FactsStaleTooLong = reasons.Add("FactsStaleTooLong",
		"Nothing has been known of the members for longer than the policy's staleLimit. Unready pods may be evicted as long as a quorum of pods is Ready; no Ready pod may.",
		"Before you drain a node, find out why there are no current facts about the members: kubectl etcd check NAME.")
	_                    = reasons.Include(policy.BackupFailing)
	BackupFailingTooLong = reasons.Add("BackupFailingTooLong",
		"Backups have been failing for longer than the policy's backupHoldLimit. Evictions are possible again down to the quorum; what is lost now may not be in any backup.",
		"Take a snapshot now with kubectl etcd snapshot save NAME, and repair the backups.")
	_            = reasons.Include(policy.AllReady)
	QuorumAtRisk = reasons.Add("QuorumAtRisk",
		"Fewer members than a quorum are ready with a Ready pod. No pod may be evicted, whatever its state, because it may be the one that brings the quorum back.",
		"First, bring a member back. kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes of the members that still run.")
	_           = reasons.Include(policy.MemberDown)
	PodNotReady = reasons.Add("PodNotReady",
		"Every member is ready but a pod is not Ready: a member that just started, or one that is about to fail. No pod may be evicted until the two agree.",
		"Wait a moment. If it remains, find out why the pod's readiness probe fails: kubectl describe pod.")
	MemberNotReady = reasons.Add("MemberNotReady",
		"A member is not ready though its pod is Ready. The disruption controller would count that pod as healthy, so no pod may be evicted until the two agree.",
		"Wait a moment. If it remains, find out why the member doesn't renew its lease: read the pod's logs, and kubectl etcd status NAME.")
	_        = reasons.Include(policy.ConditionFalse)
	_        = reasons.Include(policy.BackupUnknown)
	EvenSize = reasons.Add("EvenSize",
		"An even number of members tolerates no more failures than one member less would.",
		"Scale to an odd number: kubectl etcd scale NAME --replicas N.")
	VotersWithoutPods = reasons.Add("VotersWithoutPods",
		"The workload was scaled in, and nothing shows that etcd removed the members whose pods are gone. They still count as voters, so the budget keeps the quorum of the largest size that the cluster has had.",
		"Compare with kubectl etcd member list NAME. If etcd has more voters than pods, scale back, and then scale in with kubectl etcd scale NAME. If not, set the annotation kubectl-etcd.dev/size on the owner to the number of voters.")
	TwoMembers = reasons.Add("TwoMembers",
		"Two members tolerate no failure: every eviction is refused, so a node drain waits. Scale to three members, or to one.",
		"Scale to three members: kubectl etcd scale NAME --replicas 3.")
)
