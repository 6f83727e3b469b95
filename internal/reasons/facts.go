// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var facts policy.ReasonList

// The reasons for what is known of members.
var (
	AllMembersReady = facts.Add("AllMembersReady",
		"Every member is ready.",
		policy.NoAction)
	NotAllMembersReady = facts.Add("NotAllMembersReady",
		"At least one member is not ready.",
		"kubectl etcd status NAME shows which one, and why.")
	MembersAsked = facts.Add("MembersAsked",
		"The readiness probe of members does not ask etcd, and the policy lets etcd-webhook ask them (spec.disruption.askMembers). A member that does not answer twice counts as not ready.",
		policy.NoAction)
	NoReadinessProbe = facts.Add("NoReadinessProbe",
		"The etcd container has no readiness probe, or one that only connects, so its pod is Ready before its member is. A member counts as ready after its pod has run for a minute without interruption.",
		"Add a readiness probe on etcd's /readyz.")
	ContainerUnknown = facts.Add("ContainerUnknown",
		"It is not known which container of the members' pods runs etcd: the annotation kubectl-etcd.dev/etcd names a container that they don't have, or several containers run etcd. The cluster keeps its terms and its budget. Its members' settings can't be read.",
		"Set the annotation kubectl-etcd.dev/etcd of the workload to the name of the container that runs etcd.")
	NotChecked = facts.Add("NotChecked",
		"etcd-druid no longer checks this condition, for example for a cluster with 0 replicas. Nothing is concluded from it.",
		policy.NoAction)
	ReplicasNotReconciled = facts.Add("ReplicasNotReconciled",
		"An Etcd asks for more members than etcd-druid has acted on. etcd-druid acts on a change if it reconciles by itself, or on its annotation. Until then, the cluster counts as one of the members that it has.",
		"To let etcd-druid act: kubectl etcd scale NAME --replicas N. Otherwise, set the replicas of the Etcd to what they were.")
	SizeAhead = facts.Add("SizeAhead",
		"The annotation kubectl-etcd.dev/size of the owner has a time of more than an hour in the future, by the clock of etcd-webhook. Until that time it makes the cluster no smaller.",
		"Correct the clock of the machine that wrote it, and write the annotation again with the current time.")
	LeaseWithoutMember = facts.Add("LeaseWithoutMember",
		"There is a member's lease beyond the cluster's size, without a pod. It counts as a dead member.",
		"If that member was removed from etcd, delete the lease.")
)
