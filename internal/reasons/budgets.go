// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var budgets policy.ReasonList

// The reasons for the state of a disruption budget, and for that of backups.
var (
	NoBudget = budgets.Add("NoBudget",
		"No disruption budget selects the members, so a drain may evict several members at once.",
		"Create a budget, or let the policy create it: spec.disruption.createMissing: true.")
	BudgetsOverlap = budgets.Add("BudgetsOverlap",
		"Two disruption budgets select the same member. Every eviction of it fails with an internal error, regardless of their values.",
		"Delete one of them, or narrow its selector.")
	BudgetPartial = budgets.Add("BudgetPartial",
		"The disruption budget selects only some of the members. It is only made stricter, and no other budget is deleted because of it.",
		"Widen its selector to all members.")
	BudgetShared = budgets.Add("BudgetShared",
		"The disruption budget also selects members of another cluster, and one number can't be correct for both. It is only made stricter.",
		"Create a separate budget for each cluster.")
	BudgetUncounted = budgets.Add("BudgetUncounted",
		"The disruption budget has maxUnavailable and also selects pods without a controller. Kubernetes counts those as healthy but not as expected, so that even 0 allows evictions of members.",
		"Use minAvailable, or narrow the selector to the members.")
	BudgetBothFields = budgets.Add("BudgetBothFields",
		"The disruption budget has both minAvailable and maxUnavailable. It is not changed.",
		"Remove one of the fields.")
	BudgetNoField = budgets.Add("BudgetNoField",
		"The disruption budget has neither minAvailable nor maxUnavailable, so it refuses every eviction. One that the controller created gets its number again, and any other is not changed.",
		"Set one of the fields to an integer.")
	BudgetPercentage = budgets.Add("BudgetPercentage",
		"The disruption budget has a value that is neither an integer nor a percentage. It is not changed.",
		"Set an integer.")
	BudgetAlwaysAllow = budgets.Add("BudgetAlwaysAllow",
		"The disruption budget has unhealthyPodEvictionPolicy AlwaysAllow. Unready members may be evicted regardless of its value, even the last one that could restore the quorum. A budget that the controller created stays beside it, unless the policy enforces the rule about evictions.",
		"Set unhealthyPodEvictionPolicy to IfHealthyBudget, or remove it.")
	BudgetGoing = budgets.Add("BudgetGoing",
		"The disruption budget is being deleted. It protects the members until its finalizers are gone. A budget that the controller created stays beside it.",
		"If it should stay, create it again when it is gone. If it doesn't go, see its finalizers: kubectl get pdb NAME -o yaml.")
	BudgetSelectsAll = budgets.Add("BudgetSelectsAll",
		"The disruption budget has an empty selector and so selects every pod of the namespace. It is only made stricter.",
		"Set a selector that matches only the members.")
	BudgetCreated = budgets.Add("BudgetCreated",
		"The members had no disruption budget, so the controller created one, as the policy requires.",
		policy.NoAction)
	BudgetReselected = budgets.Add("BudgetReselected",
		"Workloads have joined or left the cluster, or another client has changed the selector, so the controller changed the selector of the disruption budget that it had created.",
		policy.NoAction)
	BudgetRemoved = budgets.Add("BudgetRemoved",
		"The controller deleted a disruption budget that it had created, because the members have another one now, because its selector was changed, because no policy keeps it any more, or because the workload is gone.",
		policy.NoAction)
	BudgetHeld = budgets.Add("BudgetHeld",
		"No policy keeps the disruption budget any more: policies are tied, or the policy was deleted, switched off or does not select the cluster. The budget stays, and is only tightened. After the policy's settle time it is released, except in a tie.",
		"To keep the budget, let one EtcdTopologyPolicy in mode Enforce select the cluster with the highest priority.")
	BudgetReleased = budgets.Add("BudgetReleased",
		"The disruption budget is not kept any more: no policy keeps it, it does not select the members or can't be set any more, or the workload is gone. It has its author's value again, or, if only the policy ended, the quorum if that is more.",
		"If the budget should be kept, let an EtcdTopologyPolicy in mode Enforce select the cluster, and let the selector match the members.")
	BudgetHandedOver = budgets.Add("BudgetHandedOver",
		"The disruption budget was kept for a cluster that is gone, that it does not select any more, or whose policy ended. It also selects members of another cluster, and is recorded for that one now, at the same number.",
		policy.NoAction)
	BudgetNotAlone = budgets.Add("BudgetNotAlone",
		"The disruption budget also selects pods that are no members, so the budget that the controller created stays beside it. Evictions of a pod that both select fail.",
		"Narrow its selector to the members.")
	BudgetNameTaken = budgets.Add("BudgetNameTaken",
		"The members have no disruption budget, and the controller can't create one. Another budget has its name and does not select the members.",
		"Rename or delete that budget, or create a budget for the members.")
	BudgetWriteDenied = budgets.Add("BudgetWriteDenied",
		"The API server or another webhook refused a change of the budget. etcd-druid's component protection does so while it reconciles. The old value remains in force, and the controller tries again.",
		"If it passes, no action is needed. Otherwise, read the refusal's message in the Event.")
	BudgetWrittenBack = budgets.Add("BudgetWrittenBack",
		"Another client loosened the budget three times within ten minutes, bypassing admission. The controller stops changing the budget for a while.",
		"Find the client: kubectl get pdb NAME -o yaml --show-managed-fields.")
	BackupLeaseIncomplete = budgets.Add("BackupLeaseIncomplete",
		"The annotations for the record of backups are incomplete. Both the name of a Lease and a maximum age are needed.",
		"Set both kubectl-etcd.dev/backup-lease and kubectl-etcd.dev/backup-max-age on the owner.")
	BackupLeaseNotFound = budgets.Add("BackupLeaseNotFound",
		"The Lease that records backups does not exist.",
		"Configure the backup program to create and renew it, or correct the annotation.")
	BackupLeaseUnreadable = budgets.Add("BackupLeaseUnreadable",
		"The Lease that records backups can't be read now, so it is unknown whether backups succeed. The budget follows the other facts.",
		"Read the message for the failure. The controller tries again.")
	BackupLeaseNeverRenewed = budgets.Add("BackupLeaseNeverRenewed",
		"The Lease that records backups has no renewTime.",
		"Configure the backup program to renew it after each successful backup.")
	BackupLeaseAhead = budgets.Add("BackupLeaseAhead",
		"The renewTime of the Lease that records backups is more than an hour in the future, so the age of the last backup is unknown.",
		"Correct the clock of the node where the backup program runs. Its next backup corrects the Lease.")
	BackupTooOld = budgets.Add("BackupTooOld",
		"The last recorded backup is older than the maximum age that the owner allows.",
		"Repair the backups. kubectl etcd snapshot save NAME takes a snapshot now.")
	BackupSucceeded = budgets.Add("BackupSucceeded",
		"The last backup is recent enough.",
		policy.NoAction)
)
