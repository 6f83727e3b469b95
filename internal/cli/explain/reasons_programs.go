// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// budgetReasons returns the reasons for the state of a cluster's disruption budget.
func budgetReasons() []Reason {
	const from = "Disruption budgets"
	return []Reason{
		{"NoBudget", from, "No disruption budget selects the members, so a drain may evict several members at once.", "Create a budget, or let the policy create it: spec.disruption.createMissing: true."},
		{"BudgetsOverlap", from, "Two disruption budgets select the same member. Every eviction of it fails with an internal error, regardless of their values.", "Delete one of them, or narrow its selector."},
		{"BudgetPartial", from, "The disruption budget selects only some of the members. It is only made stricter, and it takes no other budget away.", "Widen its selector to all members."},
		{"BudgetShared", from, "The disruption budget also selects members of another cluster, and one number can't be correct for both. It is only made stricter.", "Create a separate budget for each cluster."},
		{"BudgetNotAlone", from, "The disruption budget also selects pods that are no members, so the budget that the controller created stays beside it. Evictions of a pod that both select fail.", "Narrow its selector to the members."},
		{"BudgetUncounted", from, "The disruption budget has maxUnavailable and also selects pods without a controller. Kubernetes counts those as healthy but not as expected, so that even 0 allows evictions of members.", "Use minAvailable, or narrow the selector to the members."},
		{"BudgetBothFields", from, "The disruption budget has both minAvailable and maxUnavailable. It is not changed.", "Remove one of the fields."},
		{"BudgetNoField", from, "The disruption budget has neither minAvailable nor maxUnavailable. It is not changed.", "Set one of the fields to an integer."},
		{"BudgetPercentage", from, "The disruption budget has a value that is neither an integer nor a percentage. It is not changed.", "Set an integer."},
		{"BudgetAlwaysAllow", from, "The disruption budget has unhealthyPodEvictionPolicy AlwaysAllow. Unready members may be evicted regardless of its value, even the last one that could restore the quorum. A budget that the controller created stays beside it.", "Set unhealthyPodEvictionPolicy to IfHealthyBudget, or remove it."},
		{"BudgetSelectsAll", from, "The disruption budget has an empty selector and so selects every pod of the namespace. It is only made stricter.", "Set a selector that matches only the members."},
		{"BudgetCreated", from, "The members had no disruption budget, so the controller created one, as the policy requires.", noAction},
		{"BudgetRemoved", from, "The controller deleted a disruption budget that it had created, because the members have another one now, because its selector was changed, or because no policy keeps it any more.", noAction},
		{"BudgetHeld", from, "No policy keeps the disruption budget any more: policies are tied, or the policy was deleted, switched off or does not select the cluster. The budget stays, and is only tightened. After the policy's settle time it is released, except in a tie.", "To keep the budget, let one EtcdTopologyPolicy in mode Enforce select the cluster with the highest priority."},
		{"BudgetReleased", from, "No policy keeps the disruption budget any more. It has its author's value again, or the quorum if that is more.", "If the budget should be kept, let an EtcdTopologyPolicy in mode Enforce select the cluster."},
		{"BudgetNameTaken", from, "The members have no disruption budget, and the controller can't create one. Another budget has its name and does not select the members.", "Rename or delete that budget, or create a budget for the members."},
		{"BudgetWriteDenied", from, "The API server or another webhook refused a change of the budget. etcd-druid's component protection does so while it reconciles. The old value remains in force, and the controller tries again.", "If it passes, nothing. Otherwise, read the refusal's message in the Event."},
		{"BudgetWrittenBack", from, "Another client loosened the budget three times within ten minutes, bypassing admission. The controller stops changing the budget for a while.", "Find the client: kubectl get pdb NAME -o yaml --show-managed-fields."},
		{"BackupLeaseIncomplete", from, "The annotations for the record of backups are incomplete. Both the name of a Lease and a maximum age are needed.", "Set both kubectl-etcd.dev/backup-lease and kubectl-etcd.dev/backup-max-age on the owner."},
		{"BackupLeaseNotFound", from, "The Lease that records backups does not exist.", "Configure the backup program to create and renew it, or correct the annotation."},
		{"BackupLeaseUnreadable", from, "The Lease that records backups can't be read now, so it is unknown whether backups succeed. The budget follows the other facts.", "Read the message for the failure. The controller tries again."},
		{"BackupLeaseNeverRenewed", from, "The Lease that records backups has no renewTime.", "Configure the backup program to renew it after each successful backup."},
		{"BackupTooOld", from, "The last recorded backup is older than the maximum age that the owner allows.", "Repair the backups. kubectl etcd snapshot save NAME takes a snapshot now."},
		{"BackupSucceeded", from, "The last backup is recent enough.", noAction},
	}
}

// factReasons returns the reasons for conditions of the members.
func factReasons() []Reason {
	const from = "Facts"
	return []Reason{
		{"AllMembersReady", from, "Every member is ready.", noAction},
		{"NotAllMembersReady", from, "At least one member is not ready.", "kubectl etcd status NAME shows which one, and why."},
		{"NoReadinessProbe", from, "The etcd container has no readiness probe, so its pod is Ready as soon as it runs. A member counts as ready after its pod has run for a minute without interruption.", "Add a readiness probe on etcd's /readyz."},
		{"NotChecked", from, "etcd-druid no longer checks this condition, for example for a cluster with 0 replicas. Nothing is concluded from it.", noAction},
		{"LeaseWithoutMember", from, "There is a member's lease beyond the cluster's size, without a pod. It counts as a dead member.", "If that member was removed from etcd, delete the lease."},
	}
}

// policyReasons returns the reasons in the status of an EtcdTopologyPolicy and in its Events.
func policyReasons() []Reason {
	const from = "EtcdTopologyPolicy"
	return slices.Concat([]Reason{
		{"PolicyConflict", from, "Two policies of the same priority select this cluster, so neither applies.", "Give one of them a higher spec.priority, or narrow its selectors."},
		{"NoConflict", from, "No other policy of the same priority selects the same cluster.", noAction},
		{"PolicyOff", from, "The policy that governs the cluster is off: spec.mode is Off.", "Set spec.mode to Enforce, or first to Warn to see the effects."},
		{"PolicyWarns", from, "The policy's mode is Warn. It reports the changes and does not make them.", "When you agree with the changes, set spec.mode to Enforce."},
		{"Unobserved", from, "The controller could not read the facts, so it made no decision.", "Read the message for the failure. The controller tries again."},
		{"NotLookedAtYet", from, "The controller has not checked this cluster yet.", "Wait a moment. If it remains, check whether etcd-webhook runs: kubectl etcd version."},
	}, fromTopic(reasons.Topic{Name: from, Reasons: spread.StatusReasons()}), []Reason{
		{"Kept", from, "The members of every cluster are spread as the policy requires.", noAction},
		{"Broken", from, "In at least one cluster, the members are not spread as the policy requires.", "The policy's status lists the clusters. A member moves when its pod is recreated."},
		{"Protected", from, "Every cluster has a disruption budget that the controller maintains.", noAction},
		{"Unprotected", from, "At least one cluster has no disruption budget that the controller maintains.", "The policy's status lists the clusters with the reason."},
		{"Unknown", from, "Not enough facts are known yet.", "Wait a moment. If it remains, read etcd-webhook's logs."},
		{"MemberRespread", from, "A member's pod could not be scheduled because its volume conflicts with an injected term. The controller deleted the pod once, so that admission decides again with the volume known.", "The pod runs now, perhaps on the node of another member. To spread the members when all are healthy: kubectl etcd member replace POD --force."},
	})
}

// webhookReasons returns the reasons in audit annotations and in kubectl_etcd_admission_total.
func webhookReasons() []Reason {
	const from = "Admission"
	return []Reason{
		{"NotEtcd", from, "The object belongs to no etcd cluster.", noAction},
		{"NoPolicy", from, "No EtcdTopologyPolicy selects the cluster.", "If the members should be spread, apply a policy. policy.yaml of the release (manifests/samples/policy.yaml of a checkout) selects all clusters."},
		{"OptedOut", from, "The owner opted out with an annotation.", "To opt in again, remove the annotation kubectl-etcd.dev/topology-policy=opt-out."},
		{"Unreadable", from, "The object in the request could not be read. It passes without changes.", "The warning has the details. If it remains, report it."},
		{"Undecided", from, "etcd-webhook came to no decision because of an internal error. The outcome shows whether the request passed unchanged or was refused.", "Report it with the error in the log of etcd-webhook."},
		{"NoSelector", from, "No selector distinguishes the cluster's pods from other pods, so the webhook can't spread them. The pod passes without changes.", "Give the StatefulSet a selector that matches only its own pods."},
		{"NothingToDo", from, "The object needs no changes.", noAction},
		{"Covered", from, "The pod already has terms for these topology keys.", noAction},
		{"Spread", from, "The webhook added the terms that the policy requires.", noAction},
		{"OwnWrite", from, "The write is from the controller itself and passes.", noAction},
		{"Going", from, "The disruption budget is being deleted.", noAction},
		{"DisruptionDisabled", from, "The policy doesn't maintain disruption budgets.", "If it should, set spec.disruption.enabled to true."},
		{"AnotherBudgetKept", from, "The controller maintains another disruption budget for this cluster.", "Delete one of the two. With both, evictions fail."},
	}
}

// trafficReasons returns the reasons for a cut of client traffic.
func trafficReasons() []Reason {
	const from = "Client traffic"
	return []Reason{
		{"ClientTrafficRestored", from, "A cut of client traffic has ended. Clients reach the members again.", noAction},
		{"ClientTrafficRestoreDenied", from, "A cut of client traffic has expired, but the controller could not update the Service. It tries again.", "Read the refusal's message in the Event. To restore the traffic manually: kubectl etcd restore-client-traffic NAME."},
		{"CutWritten", from, "The Service was written with a cut that has not expired.", noAction},
		{"CutKept", from, "Another client wrote the Service without its cut, which has not expired. The webhook restored the cut.", "To end it early: kubectl etcd restore-client-traffic NAME."},
		{"CutEnded", from, "The Service was written without a cut that has expired or was ended.", noAction},
		{"CutUnreadable", from, "The value of the cut in the Service's selector contains no valid end time, or one that is more than 24 hours ahead. The webhook removed it, because the cut would never end.", "Use kubectl etcd cut-client-traffic, which writes a valid value."},
	}
}
