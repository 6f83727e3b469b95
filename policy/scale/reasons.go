// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of verdicts and warnings.
var (
	ReplicasUnchanged = reasons.Add("ReplicasUnchanged",
		"The write does not change the number of replicas.",
		policy.NoAction)
	FollowsOwner = reasons.Add("FollowsOwner",
		"The operator sets its workload to the number of replicas that its owner asks for.",
		policy.NoAction)
	AllStop = reasons.Add("AllStop",
		"All members stop. The data of each member contains all voters.",
		"To start the cluster again, set the same number of replicas.")
	VolumesDeleted = reasons.Add("VolumesDeleted",
		"The StatefulSet would delete the volume claims of voters with their replicas, and etcd would still count these voters.",
		"Set persistentVolumeClaimRetentionPolicy.whenScaled to Retain first, or use kubectl etcd scale, which removes a member from etcd before its replica. To remove the whole cluster, delete its owner.")
	VotersDeclared = reasons.Add("VotersDeclared",
		"The write declares with the annotation kubectl-etcd.dev/size that etcd has no more voters than replicas. kubectl etcd scale does so in each step.",
		policy.NoAction)
	RestartInProgress = reasons.Add("RestartInProgress",
		"kubectl etcd restart NAME --strategy coordinated stops and starts all members of the StatefulSet, and another client writes its replicas.",
		"To end the restart: kubectl etcd restart NAME --abort. To continue it: kubectl etcd restart NAME --strategy coordinated. If there is none to end, remove the annotation kubectl-etcd.dev/restart from the StatefulSet.")
	RestartStep = reasons.Add("RestartStep",
		"kubectl etcd restart NAME --strategy coordinated stops all members. It starts them again with the same number of replicas.",
		policy.NoAction)
	RestoreInProgress = reasons.Add("RestoreInProgress",
		"A restore or a recovery by kubectl etcd has stopped the members of the StatefulSet and has not ended, and another client writes its replicas. Members could start without their data.",
		"To continue the restore: kubectl etcd snapshot restore FILE NAME. To end it: kubectl etcd snapshot restore NAME --abort. If there is none to end, remove the annotation kubectl-etcd.dev/restore from the StatefulSet.")
	NoData = reasons.Add("NoData",
		"The cluster has no replicas, and no volume has data of a member.",
		policy.NoAction)
	StartsTooFew = reasons.Add("StartsTooFew",
		"The cluster has no replicas, and its data has more voters than the replicas that would start. Without a quorum of them no member becomes ready.",
		"Set the number of replicas that was stopped. If the data has fewer voters, for example after a restore, write how many into the annotation kubectl-etcd.dev/size in the same write.")
	VotersLost = reasons.Add("VotersLost",
		"Fewer voters than a quorum would keep a replica, or would stay ready.",
		"If a voter is not ready, wait or repair it first: kubectl etcd diagnose NAME shows how. Then use kubectl etcd scale, which removes a member from etcd before its replica.")
	VotersLeft = reasons.Add("VotersLeft",
		"Voters would lose their replica and stay in etcd's member list. They count for the quorum, and don't answer.",
		"If a voter is not ready, or has no replica, bring it back first. Then use kubectl etcd scale, which removes a member from etcd before its replica.")
	MoreReplicas = reasons.Add("MoreReplicas",
		"The write adds replicas to a running cluster.",
		"If no operator adds the members to etcd, use kubectl etcd scale.")
	FormsCluster = reasons.Add("FormsCluster",
		"The write starts so many new members that they are a quorum without the voters, while no quorum of the voters is ready. They could form a cluster of their own, without data. What clients write to it is lost when the voters are back.",
		"Start the voters first. When all of them are ready, use kubectl etcd scale, which adds the members to etcd one at a time.")
	EvenReplicas = reasons.Add("EvenReplicas",
		"An even number of members tolerates no more losses than one member fewer.",
		"Choose an odd number.")
)
