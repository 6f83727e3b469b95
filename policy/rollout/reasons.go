// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var reasons policy.ReasonList

// Reasons returns the reasons that only this rule has, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of the rule's verdicts, beside those that it shares with the budget and membership rules.
var (
	Complete = reasons.Add("RolloutComplete",
		"Every pod has the new template. The StatefulSet has its author's update strategy again.",
		policy.NoAction)
	ReleasedByHand = reasons.Add("RolloutReleased",
		"A user released the rollout with the annotation kubectl-etcd.dev/rollout on the owner of the cluster. The StatefulSet's controller restarts the pods without regard for the health of etcd.",
		"When the rollout is over, remove the annotation. Until then no rollout of the cluster is held.")
	OneMember = reasons.Add("RolloutOneMember",
		"The cluster has one member. A restart interrupts it in any case, so its rollout is not held.",
		"Expect an interruption, or scale to three members: kubectl etcd scale NAME --replicas 3.")
	GuardEnded = reasons.Add("RolloutGuardEnded",
		"No policy has held the rollout for the settle time: the policy was switched off or deleted, the cluster has opted out, or its workload is no longer known to run etcd. The StatefulSet has its author's update strategy again.",
		policy.NoAction)
	Unguarded = reasons.Add("RolloutUnguarded",
		"No policy holds the rollout any more. A policy that is replaced is back within a moment, so no pod restarts until the settle time is over. The rollout is then released.",
		"To hold the rollout, let one EtcdTopologyPolicy with spec.rollout.guard Enforce select the cluster. To release it at once, use the annotation kubectl-etcd.dev/rollout.")
	RestartsSeveral = reasons.Add("RolloutRestartsSeveral",
		"maxUnavailable of the StatefulSet's rolling update resolves to more than 1. A rollout that is not held restarts several members at once, which can lose the quorum.",
		"Set spec.updateStrategy.rollingUpdate.maxUnavailable to 1.")
	OneByOne = reasons.Add("RolloutReleasesOneByOne",
		"The hold of the rollout ends, and several StatefulSets run the cluster. The controller of each waits for its own pods only, so they are released one after the other: the next one when all members of the others are ready, or after holdLimit. After a release by hand, it is two minutes.",
		"Wait. If it remains, find out which member is not ready: kubectl etcd status NAME. To release the next StatefulSet after two minutes in any case, use the annotation kubectl-etcd.dev/rollout.")
	Unconfirmed = reasons.Add("RolloutUnconfirmed",
		"etcd-webhook has read the members' leases for the first time, so it is not known yet whether the members still renew them. No pod restarts.",
		"Wait for a moment.")
	NotObserved = reasons.Add("RolloutNotObserved",
		"The StatefulSet's controller has not seen the last change of the StatefulSet yet.",
		"Wait for a moment. If it remains, check that kube-controller-manager runs.")
	PodLeaving = reasons.Add("RolloutPodLeaving",
		"The eviction of a member was admitted a moment ago. No pod restarts before that member is back.",
		"Wait.")
	PodAbsent = reasons.Add("RolloutPodAbsent",
		"A member's pod is being deleted or created again. No other pod restarts before it is ready.",
		"Wait. If it remains, kubectl describe statefulset shows why the pod isn't created, and kubectl describe pod why it isn't deleted. A pod that can't be created for a minute gets the new template.")
	UpdatedNotReady = reasons.Add("RolloutUpdatedNotReady",
		"A member is not ready with the new template. The other members keep the old one.",
		"Wait until it is ready. If it does not start, kubectl logs and kubectl describe pod show why: correct the template, or restore the previous one. The pod then restarts at once.")
	DataEnds = reasons.Add("RolloutDataEnds",
		"There is no quorum, and the data of members may end with their pods: it is on no volume that outlives the pod, or its volume claim is being deleted. A member that restarts would start empty, and after all of them have restarted, the data of the cluster would be lost.",
		"Bring the members up with the template that they have, or restore that. If the data is saved or not needed, release the rollout with the annotation kubectl-etcd.dev/rollout.")
	PeersMove = reasons.Add("RolloutPeersMove",
		"With the new template, the members listen for peers on another scheme or port, for example because TLS between them is enabled. Members that restart one by one lose each other: etcd's member list still has the old URLs.",
		"Restart all members at once, which updates the list: set spec.updateStrategy.type of the StatefulSet to OnDelete, then kubectl etcd restart NAME --strategy coordinated. Or restore the template.")
	HoldLimitPassed = reasons.Add("RolloutHoldLimitPassed",
		"The rollout waited for the policy's holdLimit. It continues although the cluster is not well, one pod at a time, since a quorum of the other members is ready.",
		"Find out why the cluster is not well: kubectl etcd status NAME.")
)

// Passing reports whether a reason is over within a moment, so that it needs no record.
func Passing(r policy.Reason) bool { return r == Unconfirmed || r == NotObserved }

// ShowsUnwell reports whether a reason that is recorded on a StatefulSet shows that a member or its state was not
// known to be in order, of which the pods may show nothing.
func ShowsUnwell(reason string) bool {
	return slices.ContainsFunc([]policy.Reason{
		policy.FactsStale, policy.MemberDown, policy.CuresMember, policy.NoQuorum, policy.ConditionFalse, UpdatedNotReady, PodAbsent, DataEnds, HoldLimitPassed,
	}, func(r policy.Reason) bool { return r.Name() == reason })
}
