// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations that people put on the StatefulSet of a cluster that no operator
// keeps. Both or neither: without them nothing is known of backups.
const (
	// BackupLeaseAnnotation names the Lease, in the same namespace, that
	// whoever takes the backups renews after each one that succeeded.
	BackupLeaseAnnotation = "kubectl-etcd.dev/backup-lease"
	// BackupMaxAgeAnnotation is how old the last backup may be, such as "25h".
	BackupMaxAgeAnnotation = "kubectl-etcd.dev/backup-max-age"
)

// SizeAnnotation on the owner of a cluster is how many voters etcd has. Without it the
// largest size that a cluster has had counts, since a workload that is scaled in leaves
// voters behind. It is read when it changes: a number, and anything after a space. kubectl
// etcd scale writes it when it has removed members.
const SizeAnnotation = "kubectl-etcd.dev/size"

// What this project writes on a PodDisruptionBudget. The annotations are its
// memory: druid keeps foreign annotations on its budgets, and any replica can
// go on from them.
const (
	// BudgetForAnnotation names the owner whose budget this is, as Kind/name.
	BudgetForAnnotation = "kubectl-etcd.dev/budget-for"
	// BudgetMadeAnnotation is under what name this project made the budget, as
	// namespace/name: a copy of it has another.
	BudgetMadeAnnotation = "kubectl-etcd.dev/budget-made"
	// BudgetValueAnnotation is what this project last set, as minAvailable=2
	// or maxUnavailable=1.
	BudgetValueAnnotation = "kubectl-etcd.dev/budget-value"
	// BudgetReasonAnnotation is the budget rule's reason for that value (see
	// reasons.md).
	BudgetReasonAnnotation = "kubectl-etcd.dev/budget-reason"
	// BudgetOriginalAnnotation is what the budget's own author last wrote, as
	// minAvailable=2 or maxUnavailable=1.
	BudgetOriginalAnnotation = "kubectl-etcd.dev/budget-original"
	// BudgetLooserSinceAnnotation is since when a looser value is due.
	BudgetLooserSinceAnnotation = "kubectl-etcd.dev/budget-looser-since"
	// BudgetHoldSinceAnnotation is since when failing backups hold the budget.
	BudgetHoldSinceAnnotation = "kubectl-etcd.dev/budget-hold-since"
	// BudgetBackupTrueSinceAnnotation is since when backups are well again.
	BudgetBackupTrueSinceAnnotation = "kubectl-etcd.dev/budget-backup-true-since"
	// BudgetBackupUnknownSinceAnnotation is since when nothing is known of backups.
	BudgetBackupUnknownSinceAnnotation = "kubectl-etcd.dev/budget-backup-unknown-since"
	// BudgetStaleSinceAnnotation is since when the facts are stale.
	BudgetStaleSinceAnnotation = "kubectl-etcd.dev/budget-stale-since"
	// BudgetReleaseSinceAnnotation is since when no policy keeps the budget. It is
	// only tightened until it is released.
	BudgetReleaseSinceAnnotation = "kubectl-etcd.dev/budget-release-since"
	// BudgetSizeAnnotation is the largest size that the cluster has had.
	BudgetSizeAnnotation = "kubectl-etcd.dev/budget-size"
	// BudgetSizeReadAnnotation is the text of the owner's size annotation that was
	// read last.
	BudgetSizeReadAnnotation = "kubectl-etcd.dev/budget-size-read"

	// CreatedByLabel with the value CreatedByController marks a budget that
	// this project made because there was none.
	CreatedByLabel      = "kubectl-etcd.dev/created-by"
	CreatedByController = "etcd-webhook"
)

// ClientTrafficKey in a client Service's selector cuts client traffic, since
// no pod carries it. Its value is cut-until-<unix time>.
const (
	ClientTrafficKey    = "kubectl-etcd.dev/client-traffic"
	ClientTrafficPrefix = "cut-until-"
)
