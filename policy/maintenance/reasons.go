// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var reasons policy.ReasonList

// Reasons returns the reasons of the rule, in the order of its table.
func Reasons() []policy.Reason { return reasons.All() }

// The reasons of verdicts and notes.
var (
	SnapshotOpen = reasons.Add("SnapshotOpen",
		"A backup or a user reads a snapshot from a member. A defragmentation of that member waits for it, and every write waits for the defragmentation.",
		"Run the command again when the snapshot is complete.")
	SnapshotsUnknown = reasons.Add("SnapshotsUnknown",
		"A member's metrics can't be read, so it is unknown whether a snapshot is being read from it.",
		"Find out why the metrics can't be read: kubectl etcd check NAME.")
	CorruptAlarm = reasons.Add("CorruptAlarm",
		"etcd has found that a member's data differs from the others', or the voters' data could not be compared.",
		"Find the member with kubectl etcd check NAME, then replace it with kubectl etcd member replace POD.")
	CuresNoSpace = reasons.Add("CuresNoSpace",
		"A database has reached its quota, and etcd accepts no writes (alarm NOSPACE). Defragmentation frees space, so failing backups don't block it.",
		policy.NoAction)
	LeadsAlready = reasons.Add("LeadsAlready",
		"The member is the leader already.",
		policy.NoAction)
	DatabaseFull = reasons.Add("DatabaseFull",
		"A database takes more than 90 % of its quota. One of the next writes would raise the alarm again.",
		"kubectl etcd defrag NAME compacts, defragments and disarms. If that is not enough, delete keys or raise the quota.")
	SpaceFree = reasons.Add("SpaceFree",
		"Every database has free space again, so the alarm can be disarmed.",
		"kubectl etcd alarm disarm NAME.")
	QuotaUnknown = reasons.Add("QuotaUnknown",
		"The quota of a member is unknown: it is neither in its status (before etcd 3.6) nor in its metrics.",
		"After the alarm is disarmed, check whether it returns: kubectl etcd alarm list NAME.")
)
