// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations that users set on the StatefulSet of a cluster without an operator. Both are
// required. Without them the state of backups is unknown.
const (
	// BackupLeaseAnnotation names a Lease in the same namespace. The backup program renews it
	// after each successful backup.
	BackupLeaseAnnotation = "kubectl-etcd.dev/backup-lease"
	// BackupMaxAgeAnnotation is the maximum age of the last backup, such as "25h".
	BackupMaxAgeAnnotation = "kubectl-etcd.dev/backup-max-age"
)

// SizeAnnotation on the owner of a cluster is how many voters etcd has. Without it the
// largest size that a cluster has had counts, since a workload that is scaled in leaves
// voters behind. It is read when it changes: a number, and anything after a space. After one with
// a time, as in "3 at 2026-01-31T12:00:00Z", only a later one makes the size smaller. kubectl etcd
// scale writes it when it has removed members.
const SizeAnnotation = "kubectl-etcd.dev/size"

// What this project writes on a PodDisruptionBudget. The annotations are its
// memory: druid keeps foreign annotations on its budgets, and any replica can
// go on from them.
const (
	// BudgetForAnnotation names the owner of the cluster that the budget protects, as Kind/name.
	BudgetForAnnotation = "kubectl-etcd.dev/budget-for"
	// BudgetMadeAnnotation is the name with which this project created the budget, as
	// namespace/name. A copy of the budget has another name.
	BudgetMadeAnnotation = "kubectl-etcd.dev/budget-made"
	// BudgetValueAnnotation is the value that this project set last, as minAvailable=2 or
	// maxUnavailable=1.
	BudgetValueAnnotation = "kubectl-etcd.dev/budget-value"
	// BudgetReasonAnnotation is the budget rule's reason for that value (see
	// reasons.md).
	BudgetReasonAnnotation = "kubectl-etcd.dev/budget-reason"
	// BudgetOriginalAnnotation is the value that the budget's author wrote last, as
	// minAvailable=2 or maxUnavailable=1.
	BudgetOriginalAnnotation = "kubectl-etcd.dev/budget-original"
	// BudgetLooserSinceAnnotation is the time since when a looser value is due.
	BudgetLooserSinceAnnotation = "kubectl-etcd.dev/budget-looser-since"
	// BudgetHoldSinceAnnotation is the time since when failed backups hold the budget.
	BudgetHoldSinceAnnotation = "kubectl-etcd.dev/budget-hold-since"
	// BudgetBackupTrueSinceAnnotation is the time since when backups succeed again.
	BudgetBackupTrueSinceAnnotation = "kubectl-etcd.dev/budget-backup-true-since"
	// BudgetBackupUnknownSinceAnnotation is the time since when the state of backups is unknown.
	BudgetBackupUnknownSinceAnnotation = "kubectl-etcd.dev/budget-backup-unknown-since"
	// BudgetStaleSinceAnnotation is the time since when the facts are stale.
	BudgetStaleSinceAnnotation = "kubectl-etcd.dev/budget-stale-since"
	// BudgetReleaseSinceAnnotation is since when no policy keeps the budget. It is
	// only tightened until it is released.
	BudgetReleaseSinceAnnotation = "kubectl-etcd.dev/budget-release-since"
	// BudgetSizeAnnotation is the largest size that the cluster has had, "from" and the size before it grew while
	// members that joined may be learners, and "pending" if more members
	// are seen than the owner's size annotation declares since it was read.
	BudgetSizeAnnotation = "kubectl-etcd.dev/budget-size"
	// BudgetSizeReadAnnotation is the text of the owner's size annotation that was
	// read last.
	BudgetSizeReadAnnotation = "kubectl-etcd.dev/budget-size-read"
	// EvictionsAnnotation on a budget has the evictions of members that were admitted a moment ago, as
	// POD=UID@TIME with commas between them. A StatefulSet has those that were admitted while no budget
	// selected the members. One without effect stays until the next is recorded.
	EvictionsAnnotation = "kubectl-etcd.dev/evictions"

	// CreatedByLabel with the value CreatedByController marks a budget that this project
	// created because there was none.
	CreatedByLabel      = "kubectl-etcd.dev/created-by"
	CreatedByController = "etcd-webhook"
)

// ClientTrafficKey in the selector of a client Service cuts client traffic, because no pod has
// this label. Its value is cut-until-<unix time>.
const (
	ClientTrafficKey    = "kubectl-etcd.dev/client-traffic"
	ClientTrafficPrefix = "cut-until-"
)
