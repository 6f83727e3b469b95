// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import "slices"

// pluginReasons are those that this program gives itself.
func pluginReasons() []reason {
	return slices.Concat(statusReasons(), installationReasons(), eventReasons())
}

// statusReasons are the problems that status tells, beside those of the rules.
func statusReasons() []reason {
	const from = "kubectl etcd status"
	return []reason{
		{"SplitBrain", from, "The members are of two or more clusters with different IDs: some began a cluster of their own.", "Don't restart or scale anything. Find which half has the newer data (member list -o wide, check), and rebuild the members of the other."},
		{"MemberNotAsked", from, "A member didn't answer this program, which doesn't prove that it is down.", "The message says what failed: a certificate, a port, a permission, or the pod."},
		{"MemberWithoutPod", from, "etcd's member list has a voter that no pod runs. It counts for the quorum all the same.", "If nothing will bring it back, kubectl etcd member remove NAME ID."},
		{"Alarm", from, "A member has raised an alarm: NOSPACE, its database is full and nothing can be written, or CORRUPT, its data differs.", "NOSPACE: kubectl etcd defrag NAME does the whole cure. CORRUPT: kubectl etcd check NAME, then replace the member."},
		{"BackupNotReady", from, "Backups fail, or nobody knows whether they succeed.", "The backup container's log says why; kubectl etcd snapshot save NAME takes one now."},
		{"ConditionBad", from, "A condition that the operator keeps says that something is wrong.", "Its message says what; the operator's log says more."},
		{"ConditionsOld", from, "The operator has not renewed its conditions: it is down or cut off. What they say is no evidence.", "Look at the operator's pod. The cluster itself may be well."},
		{"SpreadBroken", from, "The members are not spread over zones or nodes as the policy says.", "Delete the pod that shares a place when all members are ready: admission places it anew, if its volume may move."},
		{"Learner", from, "A member is a learner: it has the data or is getting it, and has no vote.", "Wait for whoever added it to promote it, or see kubectl etcd member list NAME."},
		{"QuotaNear", from, "The database has taken most of its quota. When it is full, nothing can be written.", "kubectl etcd defrag NAME gives back what is free within it; else delete keys or raise the quota."},
		{"Fragmented", from, "Much of the database file is free space within it.", "kubectl etcd defrag NAME."},
		{"CertificateExpires", from, "A member's serving certificate expires soon, or has.", "Renew it where it is made; most members read it again by themselves."},
		{"VersionsDiffer", from, "The members run different versions of etcd. That is meant to last for the time of an update only.", "Finish the update; kubectl etcd status NAME shows which member has which."},
		{"MemberLags", from, "A member has applied far fewer entries than the leader.", "Wait if it has just started; else look at its disk and network: kubectl etcd check NAME."},
		{"OperationInterrupted", from, "A scale or a replacement of a member with kubectl etcd was begun and its program ended before it was done. What was found before stands in ConfigMap kubectl-etcd-NAME.", "Run the same command again to go on, or with --abort to take it back: kubectl etcd status NAME shows both."},
		{"BudgetsUnseen", from, "You may not list disruption budgets, so it is not known whether one protects the members.", "Bind the ClusterRole kubectl-etcd-viewer of plugin-roles.yaml (of the release, or manifests/samples of a checkout)."},
		{"NodesUnseen", from, "You may not list nodes, so the members' zones are not known.", "Bind the ClusterRole kubectl-etcd-cluster-viewer of plugin-roles.yaml (of the release, or manifests/samples of a checkout)."},
	}
}

// installationReasons are the problems that webhook status tells.
func installationReasons() []reason {
	const from = "kubectl etcd webhook status"
	return []reason{
		{"WebhookNotInstalled", from, "There is neither a webhook configuration nor a Deployment of etcd-webhook.", "Install it: kubectl apply --server-side -f with the etcd-webhook.yaml of a release, or -k manifests/overlays/self-signed of a checkout."},
		{"WebhookNoReplica", from, "No replica of etcd-webhook is ready. Requests pass as if it were not installed: new members are not spread, budgets are not kept, cuts don't end.", "The message says why; the pods' logs and kubectl describe say more."},
		{"WebhookNotCalled", from, "A dry run came back without the webhook's answer: the API server didn't call it, or got no answer in time, and let the request pass.", "See whether the API server reaches the webhook's Service on port 443, which is 9443 of its pods (network policies and firewalls see that one), and whether every caBundle matches: kubectl etcd webhook status shows both."},
		{"WebhookNotJudging", from, "A member's pod of a cluster that a policy in mode Enforce governs was neither Patched nor Unchanged, so the policy isn't followed.", "Ask again if the policy or the cluster is new. Else the replica's log says what it can't read; where its version isn't the plugin's, bring it up to date."},
		{"WebhookNotRegistered", from, "The program runs, but no webhook configuration names it, so the API server never calls it.", "Apply the manifests again."},
		{"WebhookUntrusted", from, "The certificate that a replica serves isn't one that a webhook's caBundle vouches for. The API server lets requests pass without an answer.", "With the self-signed overlay, restart the Deployment and see its logs; with cert-manager, see its Certificate and whether cainjector runs."},
		{"WebhookUntried", from, "The dry run couldn't be made or was refused by something else, so it is no proof.", "The message says by whom. Try in another namespace with -n, or with the right to create pods."},
		{"WebhookReplicasMissing", from, "Some replicas are not ready. The others answer.", "kubectl describe the pod that isn't ready."},
		{"WebhookNoLeader", from, "No replica holds the leader's lease, so no controller runs.", "It passes within seconds; if it stays, the replicas' logs say why they can't take the lease."},
		{"WebhookLeaderless", from, "No replica has held the leader's lease for longer than a failover takes, so no controller runs: nobody adapts budgets or ends cuts.", "The replicas' logs say why they can't take the lease; its Role and RoleBinding, etcd-webhook-leader-election, come with the manifests."},
		{"WebhookEntryMissing", from, "A webhook that the manifests register is missing from the configuration. Without the one for pods, members aren't spread.", "Apply the manifests again."},
		{"WebhookLacksRights", from, "The program's ServiceAccount lacks a right of its ClusterRole or Role, as when a binding was deleted. It answers by what it saw before, and writes nothing.", "Apply the manifests again."},
		{"WebhookTogether", from, "All replicas run on one node: when it goes, admission is gone until they start elsewhere.", "Delete one of the pods when there is another node for it."},
		{"WebhookCertificateNear", from, "Less than a fifth of the serving certificate's life is left and nobody has renewed it.", "See who should: the program itself with the self-signed overlay, else cert-manager. Its log says what it tried."},
		{"WebhookSilentReplica", from, "A replica counts as Ready and doesn't answer on its port.", "Its log says why; delete the pod if it hangs."},
		{"WebhookFailsClosed", from, "A webhook's failurePolicy isn't Ignore: without a replica, requests are refused instead of passing.", "Apply the manifests again, which say Ignore."},
		{"NoPolicyAtAll", from, "There is no EtcdTopologyPolicy, so the program changes nothing.", "Apply policy.yaml of the release (manifests/samples/policy.yaml of a checkout), or one of your own."},
		{"CutOverdue", from, "A cut of client traffic should have ended and still stands.", "End it: kubectl etcd restore-client-traffic service/NAME. Then see why the controller didn't: etcd-webhook's log."},
	}
}

// eventReasons are those of the Events that this program leaves on a cluster's
// owner. Their message says who did it and why.
func eventReasons() []reason {
	const from = "Events of kubectl etcd"
	return []reason{
		{"AlarmDisarmed", from, "Somebody disarmed an alarm.", "If it was NOSPACE, see that there is space: kubectl etcd status NAME."},
		{"Defragmented", from, "Somebody defragmented members.", noAction},
		{"LeaderMoved", from, "Somebody moved the leader.", noAction},
		{"MemberAdded", from, "Somebody added a member, as a learner.", "It votes once it has been promoted: kubectl etcd member promote."},
		{"MemberPromoted", from, "Somebody promoted a learner: it votes now.", noAction},
		{"MemberRemoved", from, "Somebody removed a member.", noAction},
		{"MemberReplaced", from, "Somebody replaced a member by a new one with the same name and an empty volume.", noAction},
		{"MemberReplacedUndone", from, "Somebody took back the replacement of a member that was under way.", "See how the member is: kubectl etcd status NAME."},
		{"Scaled", from, "Somebody scaled the cluster.", noAction},
		{"ScaledUndone", from, "Somebody took back a scale that was under way.", "See how many members there are: kubectl etcd status NAME."},
		{"SnapshotTaken", from, "Somebody had etcd-druid's backup-restore write a snapshot into the backup store.", noAction},
	}
}
