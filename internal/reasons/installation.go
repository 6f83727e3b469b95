// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var installation policy.ReasonList

// The problems that kubectl etcd webhook status shows.
var (
	WebhookNotInstalled = installation.Add("WebhookNotInstalled",
		"There is neither a webhook configuration nor a Deployment of etcd-webhook.",
		"Install it: kubectl apply --server-side -f with the etcd-webhook.yaml of a release, or -k manifests/overlays/self-signed of a checkout.")
	WebhookNoReplica = installation.Add("WebhookNoReplica",
		"No replica of etcd-webhook is ready. The API server lets requests pass without it: new members are not spread, budgets are not maintained, cuts don't end.",
		"Read the message, the logs of the pods, and kubectl describe.")
	WebhookNotCalled = installation.Add("WebhookNotCalled",
		"A dry run returned without the webhook's answer. The API server did not call it, or received no answer in time and let the request pass.",
		"Check whether the API server can reach port 443 of the webhook's Service. That is port 9443 of its pods, to which network policies and firewalls apply. Check whether every caBundle matches. kubectl etcd webhook status shows both.")
	WebhookNotJudging = installation.Add("WebhookNotJudging",
		"The webhook answered neither Patched nor Unchanged for a member's pod that a policy in mode Enforce governs. The policy is not followed.",
		"If the policy or the cluster is new, try again. Otherwise, read the replica's log for what it can't read. If its version differs from the plugin's, update it.")
	WebhookNotRegistered = installation.Add("WebhookNotRegistered",
		"The program runs, but no webhook configuration refers to it, so the API server never calls it.",
		"Apply the manifests again.")
	WebhookUntrusted = installation.Add("WebhookUntrusted",
		"The caBundle of a webhook does not trust the certificate that a replica serves. The API server lets requests pass without an answer.",
		"With the self-signed overlay, restart the Deployment and read its logs. With cert-manager, check its Certificate and whether cainjector runs.")
	WebhookUntried = installation.Add("WebhookUntried",
		"The dry run was not possible, or something else refused it. So it proves nothing.",
		"The message names the cause. Try another namespace with -n, or get permission to create pods.")
	WebhookReplicasMissing = installation.Add("WebhookReplicasMissing",
		"Some replicas are not ready. The others answer.",
		"Find out why: kubectl describe the pod that isn't ready.")
	WebhookNoLeader = installation.Add("WebhookNoLeader",
		"No replica holds the leader's lease, so no controller runs.",
		"Wait a few seconds. If it remains, read in the replicas' logs why they can't acquire the lease.")
	WebhookLeaderless = installation.Add("WebhookLeaderless",
		"No replica has held the leader's lease for longer than a failover takes. No controller runs, so budgets are not adjusted and cuts do not end.",
		"Read in the replicas' logs why they can't acquire the lease. The manifests contain its Role and RoleBinding, etcd-webhook-leader-election.")
	WebhookEntryMissing = installation.Add("WebhookEntryMissing",
		"The configuration lacks a webhook that the manifests register. Without the one for pods, members aren't spread.",
		"Apply the manifests again.")
	WebhookLacksRights = installation.Add("WebhookLacksRights",
		"The ServiceAccount of the program lacks a permission of its ClusterRole or Role, for example because a binding was deleted. It answers with old facts and writes nothing.",
		"Apply the manifests again.")
	WebhookTogether = installation.Add("WebhookTogether",
		"All replicas run on one node. If that node fails, there is no admission until they start on another one.",
		"When another node is available, delete one of the pods.")
	WebhookCertificateNear = installation.Add("WebhookCertificateNear",
		"Less than a fifth of the serving certificate's lifetime is left, and it has not been renewed.",
		"Check the component that renews it: the program itself with the self-signed overlay, otherwise cert-manager. Its log has the details.")
	WebhookSilentReplica = installation.Add("WebhookSilentReplica",
		"A replica is Ready but does not answer on its port.",
		"Read its log. If the pod hangs, delete it.")
	WebhookFailsClosed = installation.Add("WebhookFailsClosed",
		"The failurePolicy of a webhook isn't Ignore. Without a replica, requests are refused instead of passing.",
		"Apply the manifests again. They set Ignore.")
	NoPolicyAtAll = installation.Add("NoPolicyAtAll",
		"There is no EtcdTopologyPolicy, so the program changes nothing.",
		"Apply policy.yaml of the release (manifests/samples/policy.yaml of a checkout), or your own policy.")
	CutOverdue = installation.Add("CutOverdue",
		"A cut of client traffic has expired and is still in force.",
		"End it: kubectl etcd restore-client-traffic service/NAME. Then read in etcd-webhook's log why the controller did not.")
)
