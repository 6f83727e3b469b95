// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// budgetReasons are why a cluster's disruption budget is as it is.
func budgetReasons() []reason {
	const from = "Disruption budgets"
	return []reason{
		{"NoBudget", from, "No disruption budget selects the members, so nothing keeps a drain from taking several at once.", "Create one, or let the policy do it: spec.disruption.createMissing: true."},
		{"BudgetsOverlap", from, "Two disruption budgets select the same member. Every eviction of it fails with an internal error, whatever they say.", "Delete one of them, or narrow its selector."},
		{"BudgetPartial", from, "The disruption budget selects some of the members only. It is left alone.", "Widen its selector to all members."},
		{"BudgetShared", from, "The disruption budget selects members of another cluster, too. It is left alone: one number can't be right for both.", "Give each cluster a budget of its own."},
		{"BudgetUncounted", from, "The disruption budget says maxUnavailable and also selects pods without a controller, which Kubernetes counts as healthy and not as expected: at 0, its tightest, it still lets members go.", "Use minAvailable, or narrow the selector to the members."},
		{"BudgetBothFields", from, "The disruption budget has both minAvailable and maxUnavailable. It is left alone.", "Remove one of the fields."},
		{"BudgetNoField", from, "The disruption budget has neither minAvailable nor maxUnavailable. It is left alone.", "Set one of the fields to an integer."},
		{"BudgetPercentage", from, "The disruption budget says a percentage. It is left alone: quorum is a number of members.", "Set an integer, or remove the budget and let the policy create one."},
		{"BudgetAlwaysAllow", from, "The disruption budget has unhealthyPodEvictionPolicy AlwaysAllow: unready members may go whatever its number says, also the last that could bring the quorum back. It is left alone.", "Set unhealthyPodEvictionPolicy to IfHealthyBudget or leave it out."},
		{"BudgetSelectsAll", from, "The disruption budget's selector is empty and so selects every pod of the namespace. It is left alone.", "Give it a selector of the members only."},
		{"BudgetCreated", from, "The members had no disruption budget, so one was made, as the policy says.", noAction},
		{"BudgetRemoved", from, "A disruption budget that was made here has gone, because the members have another one now, or somebody had it select others.", noAction},
		{"BudgetNameTaken", from, "The members have no disruption budget, and the one that would be made can't: another budget has its name, and doesn't select them.", "Rename or delete that budget, or make one of your own for the members."},
		{"BudgetWriteDenied", from, "The API server or another webhook refused to write the budget; etcd-druid's component protection does while it reconciles. The old value stays in force, the next try follows.", "Nothing, if it passes. Else the Event has the refusal's words."},
		{"BudgetWrittenBack", from, "Somebody loosened the budget three times within ten minutes without passing admission. It is left alone for a while.", "Find who writes it: kubectl get pdb NAME -o yaml --show-managed-fields."},
		{"BackupLeaseIncomplete", from, "The annotations that say where backups are recorded are incomplete: a Lease's name and a greatest age are both needed.", "Set both kubectl-etcd.dev/backup-lease and kubectl-etcd.dev/backup-max-age on the owner."},
		{"BackupLeaseNotFound", from, "The Lease that should tell of backups is not there.", "Let whoever takes backups create and renew it, or correct the annotation."},
		{"BackupLeaseNeverRenewed", from, "The Lease that should tell of backups has no renewTime.", "Let whoever takes backups renew it after each one that succeeded."},
		{"BackupTooOld", from, "The last backup that was recorded is older than the greatest age that the owner allows.", "Mend the backups; kubectl etcd snapshot save NAME takes one at once."},
		{"BackupSucceeded", from, "The last backup is recent enough.", noAction},
	}
}

// factReasons are about what is known of the members.
func factReasons() []reason {
	const from = "Facts"
	return []reason{
		{"AllMembersReady", from, "Every member is ready.", noAction},
		{"NotAllMembersReady", from, "At least one member is not ready.", "kubectl etcd status NAME shows which, and why."},
		{"NoReadinessProbe", from, "The etcd container has no readiness probe, so its pod is Ready as soon as it runs. A member counts as ready once its pod has run for a minute without a break.", "Add a readiness probe on etcd's /readyz."},
		{"NotChecked", from, "etcd-druid doesn't look at this condition any more, as for a cluster scaled to 0. Nothing is concluded from it.", noAction},
		{"LeaseWithoutMember", from, "A member's lease is there beyond the cluster's size, without a pod. It counts as a dead member.", "If that member was removed from etcd, delete the lease."},
	}
}

// policyReasons stand in the status of an EtcdTopologyPolicy and in Events.
func policyReasons() []reason {
	const from = "EtcdTopologyPolicy"
	return slices.Concat([]reason{
		{"PolicyConflict", from, "Two policies of the same priority select this cluster, so neither applies.", "Give one of them a higher spec.priority, or narrow its selectors."},
		{"NoConflict", from, "No other policy of the same priority selects the same cluster.", noAction},
		{"PolicyOff", from, "The policy that governs the cluster is switched off: spec.mode is Off.", "Set spec.mode to Enforce, or Warn to see first what it would do."},
		{"PolicyWarns", from, "The policy's mode is Warn: what it would do is only told.", "Set spec.mode to Enforce when you agree with it."},
		{"Unobserved", from, "The facts could not be read, so nothing was decided.", "The message says what failed; the next look follows by itself."},
		{"NotLookedAtYet", from, "The controller has not looked at this cluster yet.", "Wait a moment. If it stays, see whether etcd-webhook runs: kubectl etcd version."},
	}, fromTopic(reasons.Topic{Name: from, Reasons: spread.StatusReasons()}), []reason{
		{"Kept", from, "Every cluster's members are spread as the policy says.", noAction},
		{"Broken", from, "In at least one cluster the members are not spread as the policy says.", "The policy's status lists them; a member moves when its pod is recreated."},
		{"Protected", from, "Every cluster has a disruption budget that is kept.", noAction},
		{"Unprotected", from, "At least one cluster has no disruption budget that is kept.", "The policy's status lists them with the reason."},
		{"Unknown", from, "Not enough is known yet to say.", "Wait a moment; if it stays, see etcd-webhook's logs."},
		{"MemberRespread", from, "A member's pod couldn't be scheduled because of its volume and a term that was injected; it was deleted once, so that admission decides again with the volume known.", "It runs now, perhaps beside another member. To spread them when all are well: kubectl etcd member replace POD --force."},
	})
}

// webhookReasons stand in audit annotations and in kubectl_etcd_admission_total.
func webhookReasons() []reason {
	const from = "Admission"
	return []reason{
		{"NotEtcd", from, "The object belongs to no etcd cluster.", noAction},
		{"NoPolicy", from, "No EtcdTopologyPolicy selects the cluster.", "Apply one if the members should be spread: policy.yaml of the release (manifests/samples/policy.yaml of a checkout) selects all."},
		{"OptedOut", from, "The owner opted out by annotation.", "Remove the annotation kubectl-etcd.dev/topology-policy=opt-out to opt in again."},
		{"Unreadable", from, "The request's object couldn't be read. It passes as it is.", "The warning has the details; report it if it stays."},
		{"Undecided", from, "etcd-webhook came to no decision because of an internal error. The outcome shows whether the request passed unchanged or was refused.", "Report it with the error in the log of etcd-webhook."},
		{"NoSelector", from, "The cluster's pods can't be selected apart from others, so no spread could be written. The pod passes as it is.", "Give the StatefulSet a selector of its own."},
		{"NothingToDo", from, "The object is as it should be already.", noAction},
		{"Covered", from, "The pod has terms for these topology keys already.", noAction},
		{"Spread", from, "The pod got the terms that the policy calls for.", noAction},
		{"OwnWrite", from, "The controller's own write, let through.", noAction},
		{"Going", from, "The disruption budget is being deleted.", noAction},
		{"DisruptionDisabled", from, "The policy doesn't keep disruption budgets.", "Set spec.disruption.enabled to true if it should."},
		{"AnotherBudgetKept", from, "Another disruption budget is the one that is kept for this cluster.", "Delete one of the two: with both, evictions fail."},
	}
}

// trafficReasons are about a cut of client traffic.
func trafficReasons() []reason {
	const from = "Client traffic"
	return []reason{
		{"ClientTrafficRestored", from, "A cut of client traffic has ended: clients reach the members again.", noAction},
		{"ClientTrafficRestoreDenied", from, "A cut of client traffic has expired, but the Service couldn't be written. The next try follows.", "The Event has the refusal's words. By hand: kubectl etcd restore-client-traffic NAME."},
		{"CutWritten", from, "The Service was written with a cut that has not expired.", noAction},
		{"CutKept", from, "Somebody wrote the Service without its cut, which has not expired: it was put back.", "To end it early: kubectl etcd restore-client-traffic NAME."},
		{"CutEnded", from, "The Service was written without a cut that has expired or was ended.", noAction},
		{"CutUnreadable", from, "The value of the cut in the Service's selector says no time at which it ends. It was not let in, it would cut for good.", "Use kubectl etcd cut-client-traffic, which writes it."},
	}
}
