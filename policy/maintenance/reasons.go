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
		"A backup or a user reads a snapshot from a member. A defragmentation of that member waits for it, and every write waits for the defragmentation. Try again after the snapshot.",
		policy.SeeStatus)
	SnapshotsUnknown = reasons.Add("SnapshotsUnknown",
		"A member's metrics can't be read, so it is not known whether a snapshot is being read from it.",
		policy.SeeStatus)
	CorruptAlarm = reasons.Add("CorruptAlarm",
		"etcd has found that a member's data differ from the others'. Find that member (kubectl etcd check) and replace it; no other maintenance helps.",
		policy.SeeStatus)
	CuresNoSpace = reasons.Add("CuresNoSpace",
		"A database has reached its quota and etcd takes no writes (alarm NOSPACE). Defragmentation is the cure, so backups that fail meanwhile are no reason against it.",
		policy.NoAction)
	LeadsAlready = reasons.Add("LeadsAlready",
		"The member is the leader already.",
		policy.NoAction)
	DatabaseFull = reasons.Add("DatabaseFull",
		"More than 90 % of the quota would still be taken, so the alarm would be raised again by one of the next writes. Defragment, delete keys, or raise the quota.",
		"kubectl etcd defrag NAME does the complete repair. kubectl etcd status shows what remains.")
	SpaceFree = reasons.Add("SpaceFree",
		"Every database has room again: the alarm may go.",
		"kubectl etcd alarm disarm NAME.")
	QuotaUnknown = reasons.Add("QuotaUnknown",
		"The quota of a member is neither in its status (before etcd 3.6) nor in its metrics.",
		policy.SeeStatus)
)
