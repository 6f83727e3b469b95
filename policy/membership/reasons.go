// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import "github.com/kubectl-etcd/kubectl-etcd/policy"

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

func MembershipReasons() []policy.ReasonDoc {
	const rule = "Membership"
	return []policy.ReasonDoc{
		{policy.QuorumKept, rule, "The voters that are left keep a quorum of healthy ones: the change may go ahead."},
		{QuorumWouldBeLost, rule, "Without that member fewer voters would be healthy than are a quorum of those left. Bring a member back first; a dead one goes before a healthy one."},
		{policy.NoQuorum, rule, "Fewer voters are healthy than are a quorum, so etcd agrees to nothing, no change of its members either. Bring a member back; its data is worth more than its place."},
		{LastMember, rule, "It is the only voter. Without it there is no cluster."},
		{policy.NoSuchMember, rule, "No member with that ID, name and peer URL is in etcd's list any more."},
		{VoterDown, rule, "A voter does not answer. etcd adds no member while one is down, and no healthy one should go: restart, replace or remove the dead one first."},
		{policy.LearnerPresent, rule, "A learner is there that this operation has not added. It is promoted or removed first: etcd takes one at a time."},
		{StrangerMember, rule, "etcd lists a member whose peer URL no pod of this cluster has: a leftover, or another cluster's. Remove it once you know what it is."},
		{MemberGap, rule, "A place below the highest member has no member, and a StatefulSet can't leave one out: replace that pod's member first."},
		{policy.OperationUnderWay, rule, "A scale, rollout or replacement is under way, by the owner's operator or by this plugin. Wait until it is over, or finish it."},
		{UnknownOperation, rule, "The journal names an operation that this version of the plugin does not know. Use the version that began it."},
		{policy.CuresMember, rule, "The act removes or replaces the member that is broken, so its being broken is no reason against it."},
		{policy.CatchingUp, rule, "The new member is a learner and is still behind its leader. It gets its vote after three reads within 1,000 entries."},
		{NotObserved, rule, "Kubernetes' StatefulSet controller has not yet acted on the last change."},
		{PodGoing, rule, "A pod or its volume claims are still being taken away or made."},
	}
}
