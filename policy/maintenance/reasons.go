// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import "github.com/kubectl-etcd/kubectl-etcd/policy"

// The reasons of verdicts about maintenance.
const (
	SnapshotOpen     = "SnapshotOpen"
	SnapshotsUnknown = "SnapshotsUnknown"
	CorruptAlarm     = "CorruptAlarm"
	CuresNoSpace     = "CuresNoSpace"
	LeadsAlready     = "LeadsAlready"
	DatabaseFull     = "DatabaseFull"
	SpaceFree        = "SpaceFree"
	QuotaUnknown     = "QuotaUnknown"
)

func MaintenanceReasons() []policy.ReasonDoc {
	const rule = "Maintenance"
	return []policy.ReasonDoc{
		{SnapshotOpen, rule, "Somebody reads a snapshot from a member: a backup, or a person. A defragmentation of that member waits for it, and every write waits for the defragmentation. Try again when the snapshot is over."},
		{SnapshotsUnknown, rule, "A member's metrics can't be read, so it is not known whether a snapshot is being read from it."},
		{CorruptAlarm, rule, "etcd has found that a member's data differ from the others'. Find that member (kubectl etcd check) and replace it; no other maintenance helps."},
		{CuresNoSpace, rule, "A database has reached its quota and etcd takes no writes (alarm NOSPACE). Defragmentation is the cure, so backups that fail meanwhile are no reason against it."},
		{LeadsAlready, rule, "The member is the leader already."},
		{DatabaseFull, rule, "More than 90 % of the quota would still be taken, so the alarm would be raised again by one of the next writes. Defragment, delete keys, or raise the quota."},
		{SpaceFree, rule, "Every database has room again: the alarm may go."},
		{QuotaUnknown, rule, "A member says its quota neither in its status (before etcd 3.6) nor in its metrics."},
	}
}
