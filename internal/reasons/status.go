// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var status policy.ReasonList

// The problems that kubectl etcd status shows and that are not from a rule.
var (
	SplitBrain = status.Add("SplitBrain",
		"The members belong to two or more clusters, because some members started a new cluster. The clusters have different IDs or, after --force-new-cluster, the same ID.",
		"Don't restart or scale anything. Find out which cluster has the newer data (kubectl etcd member list NAME -o wide, kubectl etcd check NAME), and rebuild the members of the other one.")
	SeparateEtcds = status.Add("SeparateEtcds",
		"Each pod of the StatefulSet runs an etcd of its own: its member list has no other member, and the pod template lists no other. They are not one cluster, and have different data. If the pod template has a list of each pod alone, they get no terms and no disruption budget.",
		"If that is intended, kubectl annotate statefulset NAME kubectl-etcd.dev/etcd=false. Don't restore them from one snapshot. If they are one cluster, write the list of all members into the pod template, or kubectl annotate statefulset NAME kubectl-etcd.dev/size=N with the number of voters.")
	LeadersDiffer = status.Add("LeadersDiffer",
		"The members follow different leaders: an election is under way, or the network is partitioned.",
		"Run kubectl etcd check NAME --only Q004 again after a few seconds.")
	MemberNotAsked = status.Add("MemberNotAsked",
		"A member did not answer this program. That does not prove that it is down.",
		"The message names the cause: a certificate, a port, a permission, or the pod.")
	MemberWithoutPod = status.Add("MemberWithoutPod",
		"etcd's member list has a member without a pod, or one that never started. A voter still counts for the quorum.",
		"If the member will not return, kubectl etcd member remove NAME MEMBER.")
	Alarm = status.Add("Alarm",
		"A member has raised an alarm. NOSPACE: its database is full, and etcd refuses writes. CORRUPT: its data differs from that of other members.",
		"NOSPACE: kubectl etcd defrag NAME does the complete repair. CORRUPT: kubectl etcd check NAME, then replace the member.")
	BackupNotReady = status.Add("BackupNotReady",
		"Backups fail or are old, or it is unknown whether they succeed.",
		"Read the log of the backup container. kubectl etcd snapshot save NAME takes a snapshot now.")
	ConditionBad = status.Add("ConditionBad",
		"A condition that the operator maintains reports a problem.",
		"Read the message of the condition and the operator's log.")
	ConditionsOld = status.Add("ConditionsOld",
		"The operator has not renewed its conditions. It is down or disconnected, so its conditions are not evidence.",
		"Check the operator's pod. The cluster itself may be healthy.")
	SpreadBroken = status.Add("SpreadBroken",
		"The members are not spread over zones or nodes as the policy requires.",
		"Delete the pod that shares a node or zone when all members are ready. Admission spreads its replacement, if its volume may move.")
	Learner = status.Add("Learner",
		"A member is a learner. It receives the data and has no vote.",
		"Wait until it is promoted, or inspect it with kubectl etcd member list NAME.")
	QuotaNear = status.Add("QuotaNear",
		"The database uses most of its quota. When it is full, etcd refuses writes.",
		"kubectl etcd defrag NAME frees unused space in the file. If that is not enough, delete keys or raise the quota.")
	Fragmented = status.Add("Fragmented",
		"Much of the database file is unused space.",
		"kubectl etcd defrag NAME.")
	CertificateExpires = status.Add("CertificateExpires",
		"The serving certificate of a member expires soon, or has expired.",
		"Renew it where it is issued. Most members reload it automatically.")
	VersionsDiffer = status.Add("VersionsDiffer",
		"The members run different versions of etcd. That is only meant for the duration of an update.",
		"Finish the update. kubectl etcd status NAME shows the version of each member.")
	MemberLags = status.Add("MemberLags",
		"A member has applied far fewer entries than the leader.",
		"If it has just started, wait. Otherwise, check its disk and network: kubectl etcd check NAME.")
	OperationInterrupted = status.Add("OperationInterrupted",
		"An operation of kubectl etcd ended before it was complete. Where it changed members, the ConfigMap kubectl-etcd-NAME records the state before it.",
		"Run the same command again to continue, or add --abort to roll back. kubectl etcd status NAME shows both commands.")
	BudgetBelowQuorum = status.Add("BudgetBelowQuorum",
		"The disruption budget keeps fewer pods than a quorum: evictions alone may stop all writes.",
		"Set minAvailable to the quorum: kubectl etcd check NAME --only B003 shows the command.")
	BudgetNotCounted = status.Add("BudgetNotCounted",
		"The disruption budget is a percentage, or selects other pods than the members.",
		"Use an integer, and select the members alone: kubectl etcd check NAME --only B004.")
	BudgetAllowsNone = status.Add("BudgetAllowsNone",
		"The disruption budget allows no eviction although all members are healthy: every drain waits.",
		"Set minAvailable to the quorum: kubectl etcd check NAME --only B005 shows the command.")
	FactsIncomplete = status.Add("FactsIncomplete",
		"The objects of Kubernetes don't show all that is needed to judge the members.",
		"Follow the advice in the message.")
	BudgetsUnseen = status.Add("BudgetsUnseen",
		"You may not list disruption budgets, so it is unknown whether one protects the members.",
		"Bind the ClusterRole kubectl-etcd-viewer of plugin-roles.yaml (in the release, or in manifests/samples of a checkout).")
	NodesUnseen = status.Add("NodesUnseen",
		"You may not list nodes, so the zones of the members are unknown.",
		"Bind the ClusterRole kubectl-etcd-cluster-viewer of plugin-roles.yaml (in the release, or in manifests/samples of a checkout).")
)
