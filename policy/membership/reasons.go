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
		"Without that member fewer voters would be healthy than are a quorum of those left. Bring a member back first; a dead one goes before a healthy one.",
		"kubectl etcd status NAME shows which members are down, and why.")
	_          = reasons.Include(policy.NoQuorum)
	LastMember = reasons.Add("LastMember",
		"It is the only voter. Without it there is no cluster.",
		policy.SeeStatus)
	_         = reasons.Include(policy.NoSuchMember)
	VoterDown = reasons.Add("VoterDown",
		"A voter does not answer. etcd adds no member while one is down, and no healthy one should go: restart, replace or remove the dead one first.",
		"kubectl etcd status NAME shows why. If its data is lost, kubectl etcd member replace POD.")
	_              = reasons.Include(policy.LearnerPresent)
	StrangerMember = reasons.Add("StrangerMember",
		"etcd lists a member whose peer URL no pod of this cluster has: a leftover, or another cluster's. Remove it once you know what it is.",
		"List it with kubectl etcd member list NAME. Remove it with kubectl etcd member remove.")
	MemberGap = reasons.Add("MemberGap",
		"A place below the highest member has no member, and a StatefulSet can't leave one out: replace that pod's member first.",
		policy.SeeStatus)
	_                = reasons.Include(policy.OperationUnderWay)
	UnknownOperation = reasons.Add("UnknownOperation",
		"The journal names an operation that this version of the plugin does not know. Use the version that began it.",
		policy.SeeStatus)
	_           = reasons.Include(policy.CuresMember)
	_           = reasons.Include(policy.CatchingUp)
	NotObserved = reasons.Add("NotObserved",
		"Kubernetes' StatefulSet controller has not yet acted on the last change.",
		policy.SeeStatus)
	PodGoing = reasons.Add("PodGoing",
		"A pod or its volume claims are still being taken away or made.",
		policy.SeeStatus)
	VoterAlive = reasons.Add("VoterAlive",
		"The voter does not answer the plugin, and other members are in contact with it. So it is not dead, and removing it would remove a healthy voter.",
		"kubectl etcd member list NAME shows its address. Find the pod that runs it, and find out why the plugin can't reach that pod.")
	VoterElsewhere = reasons.Add("VoterElsewhere",
		"No pod of this cluster runs the voter, and another pod of the namespace has its name or address, or the leader has a connection with it. It may be alive.",
		"Inspect that pod. If its etcd is gone for good, delete the pod and try again.")
	VoterUnknown = reasons.Add("VoterUnknown",
		"Whether the voter is dead could not be determined: the metrics of the leader or the pods of the namespace can't be read.",
		"Make the leader's metrics readable, which the message names, and try again.")
)
