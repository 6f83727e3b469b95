// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of the budget's verdicts, one for each row of its table, and then those of its notes.
var (
	SingleMember = reasons.Add("SingleMember",
		"The cluster has at most one member. A budget can't keep a single member available and would only block the drain of its node, so minAvailable is 0.",
		"Expect an interruption when its node is drained, or scale to three members: kubectl etcd scale NAME --replicas 3.")
	ScaledToZero = reasons.Add("ScaledToZero",
		"The cluster is scaled to 0. It has no pod that could be evicted. When its members start again, they have their votes, so the budget keeps a quorum of them, and its number if that is higher.",
		policy.NoAction)
	_                 = reasons.Include(policy.SizeUnknown)
	_                 = reasons.Include(policy.ClientTrafficCut)
	_                 = reasons.Include(policy.FactsStale)
	FactsStaleTooLong = reasons.Add("FactsStaleTooLong",
		"The state of the members has been unknown for longer than the policy's staleLimit. Unready pods may be evicted if a quorum of pods is Ready. No Ready pod may be evicted.",
		"Before you drain a node, find out why there are no current facts about the members: kubectl etcd check NAME.")
	_                    = reasons.Include(policy.BackupFailing)
	BackupFailingTooLong = reasons.Add("BackupFailingTooLong",
		"Backups have been failing for longer than the policy's backupHoldLimit. Evictions are possible again down to the quorum. Recent data may not be in any backup.",
		"Take a snapshot now with kubectl etcd snapshot save NAME, and repair the backups.")
	_            = reasons.Include(policy.MemberJoined)
	_            = reasons.Include(policy.AllReady)
	QuorumAtRisk = reasons.Add("QuorumAtRisk",
		"Fewer members than a quorum are ready with a Ready pod. No pod may be evicted, whatever its state, because its member may be needed to restore the quorum.",
		"First, bring a member back. kubectl etcd status NAME shows which members are down, and why. Don't delete pods or volumes of the members that still run.")
	RolloutUnderWay = reasons.Add("RolloutUnderWay",
		"A rollout restarts the members. An eviction between two restarts would add another member that is down, so no pod may be evicted.",
		"Wait until the rollout is complete. If a restarted pod is not Ready for two minutes, unready pods may be evicted again.")
	_           = reasons.Include(policy.MemberDown)
	PodNotReady = reasons.Add("PodNotReady",
		"Every member is ready, but a pod is not Ready. Its member has just started or is about to fail. No pod may be evicted until both agree.",
		"Wait a moment. If it remains, find out why the pod's readiness probe fails: kubectl describe pod POD.")
	MemberNotReady = reasons.Add("MemberNotReady",
		"A member is not ready, although its pod is Ready. The disruption controller would count that pod as healthy, so no pod may be evicted until both agree.",
		"Wait a moment. If it remains, find out why the member doesn't renew its lease: read the pod's logs, and kubectl etcd status NAME.")
	_        = reasons.Include(policy.ConditionFalse)
	_        = reasons.Include(policy.BackupUnknown)
	EvenSize = reasons.Add("EvenSize",
		"An even number of members tolerates no more failures than one member fewer.",
		"Scale to an odd number: kubectl etcd scale NAME --replicas N.")
	VotersWithoutPods = reasons.Add("VotersWithoutPods",
		"The workload was scaled in, and nothing shows that etcd removed the members whose pods are gone. They still count as voters, so the budget keeps the quorum of the largest size that the cluster has had.",
		"Compare with kubectl etcd member list NAME. If etcd has more voters than pods, scale back, and then scale in with kubectl etcd scale NAME, or as the operator of the cluster requires. If not, the message has the command that declares the number of voters: an operator or a script that removes members does not.")
	MembersElsewhere = reasons.Add("MembersElsewhere",
		"The members' initial clusters name members that no workload of the namespace is known to have, because those run elsewhere, or because the workloads do not list each other. Or a workload lists these members, is not listed by them, and is not ready. The budget counts such members as down.",
		"In each StatefulSet of the cluster, list the members of all StatefulSets. etcd-webhook counts no member that another pod runs, such as one of a Deployment: replace it with a member that a StatefulSet runs. If the list is out of date, correct it, or set the annotation kubectl-etcd.dev/size on the owner to \"N at TIME\", with the number of voters and the current time, as in 2026-01-31T12:00:00Z.")
	TwoMembers = reasons.Add("TwoMembers",
		"Two members tolerate no failure. Every eviction is refused, so a node drain waits.",
		"Scale to three members: kubectl etcd scale NAME --replicas 3. With one member, evictions are allowed and interrupt the cluster.")
)

// ShowsUnwell reports whether a reason that is recorded on a budget shows that a member or its state was not known
// to be in order, of which the pods may show nothing.
func ShowsUnwell(reason string) bool {
	return slices.ContainsFunc([]policy.Reason{
		policy.FactsStale, FactsStaleTooLong, QuorumAtRisk, policy.MemberDown, PodNotReady, MemberNotReady, policy.ConditionFalse,
	}, func(r policy.Reason) bool { return r.Name() == reason })
}
