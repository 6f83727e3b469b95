// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of steps.
var (
	MemberRestarting = reasons.Add("MemberRestarting",
		"A member has been stopped and is not back yet. It is back when its pod is Ready, it follows the leader, and it has caught up. No other member is restarted before that.",
		"Wait. If it doesn't come back, kubectl etcd status NAME and kubectl logs of its pod show why.")
	RestartComplete = reasons.Add("RestartComplete",
		"Every member that was to be restarted has a new pod and is healthy.",
		policy.NoAction)
	QuorumNeedsAll = reasons.Add("QuorumNeedsAll",
		"A restart of this member would leave fewer healthy voters than a quorum, so etcd would take no writes until it is back.",
		"Wait until the other members are healthy. With two members, every restart interrupts etcd, and kubectl etcd restart does none: add a third member first (kubectl etcd scale NAME --replicas 3), or delete the pod when clients can wait.")
	LeaderLast = reasons.Add("LeaderLast",
		"The member is the leader. It transfers its leadership before it stops, so that writes wait for one election and not for a timeout.",
		policy.NoAction)
	ConfigChanged = reasons.Add("ConfigChanged",
		"A ConfigMap or Secret that the members read has changed while they were restarted one by one. Members that were restarted before may have read the old contents.",
		"Restart the members again: kubectl etcd restart NAME.")
	MembersStopping = reasons.Add("MembersStopping",
		"All members of the cluster stop, for a coordinated restart. etcd answers no requests.",
		"Wait. If the command was interrupted, run it again: kubectl etcd restart NAME --strategy coordinated.")
	MembersStarting = reasons.Add("MembersStarting",
		"All members of the cluster have stopped together, and start again.",
		"Wait. If the command was interrupted, run it again: kubectl etcd restart NAME --strategy coordinated. If they don't become healthy, kubectl etcd status NAME and kubectl logs of their pods show why.")
	DataKept = reasons.Add("DataKept",
		"The cluster has no quorum, and the data of every member outlives its pod. A coordinated restart loses nothing, and may restore the quorum.",
		policy.NoAction)
	DataAtRisk = reasons.Add("DataAtRisk",
		"The data of a member may not be there when its pod starts again. With all members stopped, no other member has it.",
		"Restart the members one at a time: kubectl etcd restart NAME. To replace a member that would lose its data: kubectl etcd member replace POD.")
	PeersUnreachable = reasons.Add("PeersUnreachable",
		"The next pods of the members have other peer URLs than etcd's member list, as after a change between http and https. Without a quorum, etcd can't change the list. With the list that it has, the members would not reach each other.",
		"Restore the pod template that listens on the listed URLs. kubectl rollout history statefulset/SET shows the revisions, and kubectl rollout undo statefulset/SET --to-revision=N restores one. Then restart all members: kubectl etcd restart NAME --strategy coordinated.")
	PeersUpdated = reasons.Add("PeersUpdated",
		"The next pods of the members have other peer URLs than etcd's member list. A coordinated restart updates the list: half of the members before all stop, and the others after the start.",
		"Wait. If the command was interrupted, run it again: kubectl etcd restart NAME --strategy coordinated.")
	MemberPodMissing = reasons.Add("MemberPodMissing",
		"A member has no pod that runs. It is not known whether it would start again with the others.",
		"Bring its pod back first. kubectl etcd status NAME shows what it waits for.")
	OtherMember = reasons.Add("OtherMember",
		"After a coordinated restart, a member answers with another cluster ID, another member ID or an older revision. It has started with other data than before, perhaps on an empty volume.",
		"Don't restore client traffic. Find out which volume the member has: kubectl etcd diagnose NAME, kubectl describe pod. To end the restart with client traffic cut: kubectl etcd restart NAME --abort. When the members have the right data: kubectl etcd restore-client-traffic NAME.")
	MarkMissing = reasons.Add("MarkMissing",
		"A cluster has fewer replicas than the record of an unfinished coordinated restart, and no mark on its StatefulSet shows that the restart has removed them. Every user who may write ConfigMaps can write the record, so no replicas are written because of it.",
		"Set the replicas as they should be: kubectl scale. Then delete the record, the ConfigMap kubectl-etcd-NAME.")
	RestartAborted = reasons.Add("RestartAborted",
		"A coordinated restart was ended with --abort. Members that had stopped have a pod again.",
		policy.NoAction)
	RequestBegun = reasons.Add("RestartRequestBegun",
		"etcd-webhook restarts members one at a time, because the annotation kubectl-etcd.dev/restart-request requests it.",
		"Wait. To stop after the member that restarts now, remove the annotation.")
	RequestWithdrawn = reasons.Add("RestartRequestWithdrawn",
		"The annotation kubectl-etcd.dev/restart-request was removed before every member had restarted. The others keep their pods.",
		policy.NoAction)
	RequestInvalid = reasons.Add("RestartRequestInvalid",
		"The annotation kubectl-etcd.dev/restart-request names no pod that exists, or is on the StatefulSet of an Etcd, so nothing restarts.",
		"Set it to rolling, or to the name of a pod of the StatefulSet, on the Etcd if there is one. To restart all members at once: kubectl etcd restart NAME --strategy coordinated.")
	RequestDenied = reasons.Add("RestartRequestDenied",
		"The API server, a disruption budget or another webhook refused a write of a restart that was requested by annotation. It is tried again.",
		"Read the message for the refusal. A budget that admits no eviction shows why in its Events: kubectl describe pdb.")
	DataEndsWithPod = reasons.Add("RestartDataEnds",
		"A restart was requested by annotation, and the data of the member may end with its pod: it is on no volume that outlives the pod, or its volume claim is missing, is being deleted or has lost its volume. The member does not restart.",
		"Remove the annotation. To replace the member, so that it gets its data from the others: kubectl etcd member replace POD. If it is the only member: kubectl etcd diagnose NAME.")
	RestartCostsMember = reasons.Add("RestartCostsMember",
		"A restart was requested by annotation, and a preStop hook removes the member from etcd or deletes its data, and nothing adds the member again. No member restarts.",
		"Remove that command from the pod template, or remove the annotation.")
	MayHaveOlderData = reasons.Add("RestartOlderVolume",
		"A restart was requested by annotation, and the volume of a member that is not healthy is older than those of all healthy members. If these began without data, only it has the earlier data, and its restart could end it. etcd-webhook does not ask etcd, so it does not restart the member.",
		"Restart it by the command, which asks etcd: kubectl etcd restart NAME --member POD. If that refuses: kubectl etcd diagnose NAME.")
)
