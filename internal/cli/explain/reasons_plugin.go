// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import "slices"

// pluginReasons returns the reasons that this program sets.
func pluginReasons() []Reason {
	return slices.Concat(statusReasons(), installationReasons(), eventReasons())
}

// statusReasons returns the problems of kubectl etcd status that are not from a rule.
func statusReasons() []Reason {
	const from = "kubectl etcd status"
	return []Reason{
		{"SplitBrain", from, "The members belong to two or more clusters with different IDs, because some members started a new cluster.", "Don't restart or scale anything. Find out which cluster has the newer data (member list -o wide, check), and rebuild the members of the other one."},
		{"LeadersDiffer", from, "The members follow different leaders: an election is under way, or the network is partitioned.", "Run kubectl etcd check NAME --only Q004 again after a few seconds."},
		{"MemberNotAsked", from, "A member did not answer this program. That does not prove that it is down.", "The message names the cause: a certificate, a port, a permission, or the pod."},
		{"MemberWithoutPod", from, "etcd's member list has a member without a pod, or one that never started. A voter still counts for the quorum.", "If the member will not return, kubectl etcd member remove NAME ID."},
		{"Alarm", from, "A member has raised an alarm. NOSPACE: its database is full, and etcd refuses writes. CORRUPT: its data differs from that of other members.", "NOSPACE: kubectl etcd defrag NAME does the complete repair. CORRUPT: kubectl etcd check NAME, then replace the member."},
		{"BackupNotReady", from, "Backups fail or are old, or it is unknown whether they succeed.", "Read the log of the backup container. kubectl etcd snapshot save NAME takes a snapshot now."},
		{"ConditionBad", from, "A condition that the operator maintains reports a problem.", "Read the message of the condition and the operator's log."},
		{"ConditionsOld", from, "The operator has not renewed its conditions. It is down or disconnected, so its conditions are not evidence.", "Check the operator's pod. The cluster itself may be healthy."},
		{"SpreadBroken", from, "The members are not spread over zones or nodes as the policy requires.", "Delete the pod that shares a node or zone when all members are ready. Admission spreads its replacement, if its volume may move."},
		{"Learner", from, "A member is a learner. It receives the data and has no vote.", "Wait until it is promoted, or inspect it with kubectl etcd member list NAME."},
		{"QuotaNear", from, "The database uses most of its quota. When it is full, etcd refuses writes.", "kubectl etcd defrag NAME frees unused space in the file. If that is not enough, delete keys or raise the quota."},
		{"Fragmented", from, "Much of the database file is unused space.", "kubectl etcd defrag NAME."},
		{"CertificateExpires", from, "The serving certificate of a member expires soon, or has expired.", "Renew it where it is issued. Most members reload it automatically."},
		{"VersionsDiffer", from, "The members run different versions of etcd. That is only meant for the duration of an update.", "Finish the update. kubectl etcd status NAME shows the version of each member."},
		{"MemberLags", from, "A member has applied far fewer entries than the leader.", "If it has just started, wait. Otherwise, check its disk and network: kubectl etcd check NAME."},
		{"OperationInterrupted", from, "An operation of kubectl etcd ended before it was complete. Where it changed members, the ConfigMap kubectl-etcd-NAME records the state before it.", "Run the same command again to continue, or add --abort to roll back. kubectl etcd status NAME shows both commands."},
		{"BudgetBelowQuorum", from, "The disruption budget keeps fewer pods than a quorum: evictions alone may stop all writes.", "Set minAvailable to the quorum: kubectl etcd check NAME --only B003 shows the command."},
		{"BudgetNotCounted", from, "The disruption budget is a percentage, or selects other pods than the members.", "Use an integer, and select the members alone: kubectl etcd check NAME --only B004."},
		{"BudgetAllowsNone", from, "The disruption budget allows no eviction although all members are healthy: every drain waits.", "Set minAvailable to the quorum: kubectl etcd check NAME --only B005 shows the command."},
		{"FactsIncomplete", from, "The objects of Kubernetes don't show all that is needed to judge the members.", "Follow the advice in the message."},
		{"BudgetsUnseen", from, "You may not list disruption budgets, so it is unknown whether one protects the members.", "Bind the ClusterRole kubectl-etcd-viewer of plugin-roles.yaml (in the release, or in manifests/samples of a checkout)."},
		{"NodesUnseen", from, "You may not list nodes, so the zones of the members are unknown.", "Bind the ClusterRole kubectl-etcd-cluster-viewer of plugin-roles.yaml (in the release, or in manifests/samples of a checkout)."},
	}
}

// installationReasons returns the problems of kubectl etcd webhook status.
func installationReasons() []Reason {
	const from = "kubectl etcd webhook status"
	return []Reason{
		{"WebhookNotInstalled", from, "There is neither a webhook configuration nor a Deployment of etcd-webhook.", "Install it: kubectl apply --server-side -f with the etcd-webhook.yaml of a release, or -k manifests/overlays/self-signed of a checkout."},
		{"WebhookNoReplica", from, "No replica of etcd-webhook is ready. The API server lets requests pass without it: new members are not spread, budgets are not maintained, cuts don't end.", "Read the message, the logs of the pods, and kubectl describe."},
		{"WebhookNotCalled", from, "A dry run returned without the webhook's answer. The API server did not call it, or received no answer in time and let the request pass.", "Check whether the API server can reach port 443 of the webhook's Service, which is port 9443 of its pods (network policies and firewalls apply to the latter), and whether every caBundle matches. kubectl etcd webhook status shows both."},
		{"WebhookNotJudging", from, "The webhook answered neither Patched nor Unchanged for a member's pod that a policy in mode Enforce governs. The policy is not followed.", "If the policy or the cluster is new, try again. Otherwise, read the replica's log for what it can't read. If its version differs from the plugin's, update it."},
		{"WebhookNotRegistered", from, "The program runs, but no webhook configuration refers to it, so the API server never calls it.", "Apply the manifests again."},
		{"WebhookUntrusted", from, "The caBundle of a webhook does not trust the certificate that a replica serves. The API server lets requests pass without an answer.", "With the self-signed overlay, restart the Deployment and read its logs. With cert-manager, check its Certificate and whether cainjector runs."},
		{"WebhookUntried", from, "The dry run was not possible, or something else refused it. So it proves nothing.", "The message names the cause. Try another namespace with -n, or get permission to create pods."},
		{"WebhookReplicasMissing", from, "Some replicas are not ready. The others answer.", "kubectl describe the pod that isn't ready."},
		{"WebhookNoLeader", from, "No replica holds the leader's lease, so no controller runs.", "Wait a few seconds. If it remains, read in the replicas' logs why they can't acquire the lease."},
		{"WebhookLeaderless", from, "No replica has held the leader's lease for longer than a failover takes. No controller runs, so budgets are not adjusted and cuts do not end.", "Read in the replicas' logs why they can't acquire the lease. The manifests contain its Role and RoleBinding, etcd-webhook-leader-election."},
		{"WebhookEntryMissing", from, "The configuration lacks a webhook that the manifests register. Without the one for pods, members aren't spread.", "Apply the manifests again."},
		{"WebhookLacksRights", from, "The ServiceAccount of the program lacks a permission of its ClusterRole or Role, for example because a binding was deleted. It answers with old facts and writes nothing.", "Apply the manifests again."},
		{"WebhookTogether", from, "All replicas run on one node. If that node fails, there is no admission until they start on another one.", "When another node is available, delete one of the pods."},
		{"WebhookCertificateNear", from, "Less than a fifth of the serving certificate's lifetime is left, and it has not been renewed.", "Check the component that renews it: the program itself with the self-signed overlay, otherwise cert-manager. Its log has the details."},
		{"WebhookSilentReplica", from, "A replica is Ready but does not answer on its port.", "Read its log. If the pod hangs, delete it."},
		{"WebhookFailsClosed", from, "The failurePolicy of a webhook isn't Ignore. Without a replica, requests are refused instead of passing.", "Apply the manifests again. They set Ignore."},
		{"NoPolicyAtAll", from, "There is no EtcdTopologyPolicy, so the program changes nothing.", "Apply policy.yaml of the release (manifests/samples/policy.yaml of a checkout), or your own policy."},
		{"CutOverdue", from, "A cut of client traffic has expired and is still in force.", "End it: kubectl etcd restore-client-traffic service/NAME. Then read in etcd-webhook's log why the controller did not."},
	}
}

// eventReasons returns the reasons of the Events that this program creates for the owner of a
// cluster. The message of the Event names the user and the user's own reason.
func eventReasons() []Reason {
	const from = "Events of kubectl etcd"
	return []Reason{
		{"AlarmDisarmed", from, "A user disarmed an alarm.", "If it was NOSPACE, check that there is space: kubectl etcd status NAME."},
		{"Defragmented", from, "A user defragmented members.", noAction},
		{"LeaderMoved", from, "A user moved the leader.", noAction},
		{"MemberAdded", from, "A user added a member, as a learner.", "It votes after it is promoted: kubectl etcd member promote."},
		{"MemberPromoted", from, "A user promoted a learner. It votes now.", noAction},
		{"MemberRemoved", from, "A user removed a member.", noAction},
		{"MemberReplaced", from, "A user replaced a member with a new one that has the same name and an empty volume.", noAction},
		{"MemberReplacedUndone", from, "A user rolled back the replacement of a member before it was complete.", "Check the member: kubectl etcd status NAME."},
		{"Scaled", from, "A user scaled the cluster.", noAction},
		{"ScaledUndone", from, "A user rolled back a scale before it was complete.", "Check the number of members: kubectl etcd status NAME."},
		{"SnapshotTaken", from, "A user requested a snapshot from etcd-druid's backup-restore, which wrote it into the backup store.", noAction},
	}
}
