// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of verdicts and steps.
var (
	_                 = reasons.Include(policy.QuorumKept)
	QuorumWouldBeLost = reasons.Add("QuorumWouldBeLost",
		"Without that member, fewer voters would be healthy than a quorum of the remaining ones.",
		"Bring a member back, or remove a dead member first. kubectl etcd status NAME shows which members are down, and why.")
	_          = reasons.Include(policy.NoQuorum)
	LastMember = reasons.Add("LastMember",
		"The member is the only voter. Without it, there is no cluster.",
		"Add a member first: kubectl etcd scale NAME --replicas 3. To remove the whole cluster, delete its owner.")
	_         = reasons.Include(policy.NoSuchMember)
	VoterDown = reasons.Add("VoterDown",
		"A voter does not answer. While a voter is down, etcd adds no member, and no healthy member should be removed.",
		"kubectl etcd status NAME shows why. Restart the voter. If its data is lost, kubectl etcd member replace POD.")
	_                    = reasons.Include(policy.LearnerPresent)
	MemberWithoutOrdinal = reasons.Add("MemberWithoutOrdinal",
		"etcd's member list has a member whose peer URL belongs to no pod of this cluster. It is a leftover or belongs to another cluster.",
		"List it with kubectl etcd member list NAME. When you know what it is, remove it with kubectl etcd member remove NAME MEMBER.")
	MemberGap = reasons.Add("MemberGap",
		"An ordinal below the highest member has no member, and a StatefulSet can't skip an ordinal.",
		"If a change of members stops at it, undo that change with --abort. Then replace the member of that pod: kubectl etcd member replace POD.")
	_                = reasons.Include(policy.OperationUnderWay)
	UnknownOperation = reasons.Add("UnknownOperation",
		"The journal contains an operation that this version of the plugin does not know.",
		"Continue with the version of kubectl etcd that began the operation.")
	_           = reasons.Include(policy.CuresMember)
	_           = reasons.Include(policy.CatchingUp)
	NotObserved = reasons.Add("NotObserved",
		"The StatefulSet controller of Kubernetes has not processed the last change yet.",
		"Wait. If it remains, check whether kube-controller-manager runs.")
	PodGoing = reasons.Add("PodGoing",
		"A pod or its volume claims are still being deleted or created.",
		"Wait. If it remains, inspect the pod and its claims: kubectl describe pod POD, kubectl get pvc.")
	VoterAlive = reasons.Add("VoterAlive",
		"The voter does not answer the plugin, and other members are in contact with it. So it is not dead, and removing it would remove a healthy voter.",
		"kubectl etcd member list NAME shows its address. Find the pod that runs it, and find out why the plugin can't reach that pod.")
	VoterElsewhere = reasons.Add("VoterElsewhere",
		"No pod of this cluster runs the voter, and another pod of the namespace has its name or address, or the leader has a connection with it. It may be alive.",
		"Inspect that pod. If its etcd is gone for good, delete the pod and try again.")
	VoterHasPod = reasons.Add("VoterHasPod",
		"The voter does not answer, and its pod exists. A process that is frozen or slow comes back with its data. If the voter was removed meanwhile, it can't rejoin.",
		"Find out why it does not answer: kubectl describe pod POD. If its data is lost: kubectl etcd member replace POD. To remove the voter for good, add --force.")
	VoterHasOldData = reasons.Add("VoterHasOldData",
		"The members that answer lost their data and began again, and the voter ran before them, or has an older volume. It may have the only earlier data. A voter that was removed can't return with it.",
		"kubectl etcd diagnose NAME shows what to do. Copy the voter's data directory first.")
	VoterStopped = reasons.Add("VoterStopped",
		"No pod runs the voter, because its StatefulSet or Deployment was scaled in. Its volumes are there, so it comes back when the workload is scaled up. If the voter was removed meanwhile, it can't rejoin.",
		"Scale the workload up again: kubectl scale WORKLOAD --replicas N. To remove the voter for good, add --force.")
	VoterUnknown = reasons.Add("VoterUnknown",
		"Whether the voter is dead could not be determined: the metrics of the leader can't be read, or it is not known whether a pod has the address in the voter's peer URL.",
		"The message shows what is not known. If it can't be read, make it readable and try again. If the address is outside of this Kubernetes cluster, only a user there can find out whether the voter runs. If it is lost for good, and the leader has no connection with it, add --lost.")
)
