// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var events policy.ReasonList

// The reasons of the Events that kubectl etcd creates for the owner of a cluster. The message of
// the Event names the user and the user's own reason.
var (
	AlarmDisarmed = events.Add("AlarmDisarmed",
		"A user disarmed an alarm.",
		"If it was NOSPACE, check that there is space: kubectl etcd status NAME.")
	Defragmented = events.Add("Defragmented",
		"A user defragmented members.",
		policy.NoAction)
	LeftoverRemoved = events.Add("LeftoverRemoved",
		"A user removed an object that an operation, etcd-webhook or a member had left behind, or restored what its author requested.",
		policy.NoAction)
	LeaderMoved = events.Add("LeaderMoved",
		"A user moved the leader.",
		policy.NoAction)
	MemberAdded = events.Add("MemberAdded",
		"A user added a member, as a learner.",
		"It votes after it is promoted: kubectl etcd member promote NAME MEMBER.")
	MemberPromoted = events.Add("MemberPromoted",
		"A user promoted a learner. It votes now.",
		policy.NoAction)
	MemberRemoved = events.Add("MemberRemoved",
		"A user removed a member.",
		policy.NoAction)
	MemberReplaced = events.Add("MemberReplaced",
		"A user replaced a member with a new one that has the same name and an empty volume.",
		policy.NoAction)
	MemberReplacedUndone = events.Add("MemberReplacedUndone",
		"A user rolled back the replacement of a member before it was complete.",
		"Check the member: kubectl etcd status NAME.")
	MembersDrained = events.Add("MembersDrained",
		"A user drained nodes, which evicted members.",
		"The nodes stay cordoned until a user uncordons them.")
	Restarted = events.Add("Restarted",
		"A user restarted members. Each came back before the next one stopped.",
		policy.NoAction)
	VolumesGrown = events.Add("VolumesGrown",
		"A user made the members' volumes larger, one at a time. The message has the size, and the members that were restarted for it.",
		policy.NoAction)
	RestartEnded = events.Add("RestartEnded",
		"A user ended a restart before all members were restarted.",
		"To restart the other members: kubectl etcd restart NAME.")
	Restored = events.Add("SnapshotRestored",
		"A snapshot was restored: the members started on its data as a new cluster. The message has the revision, the user and their reason.",
		policy.NoAction)
	OldDataDiscarded = events.Add("OldDataDiscarded",
		"A user deleted the old data that a restore of a snapshot kept. The message has how much that freed.",
		policy.NoAction)
	RestoreUndone = events.Add("SnapshotRestoreUndone",
		"A restore of a snapshot was undone: the members start on the data that they had before it.",
		policy.NoAction)
	Scaled = events.Add("Scaled",
		"A user scaled the cluster.",
		policy.NoAction)
	ScaledUndone = events.Add("ScaledUndone",
		"A user rolled back a scale before it was complete.",
		"Check the number of members: kubectl etcd status NAME.")
	SnapshotScheduleSet = events.Add("SnapshotScheduleSet",
		"A user created, changed, suspended or resumed a schedule of snapshots.",
		"To see its snapshots: kubectl etcd snapshot list NAME.")
	SnapshotScheduleDeleted = events.Add("SnapshotScheduleDeleted",
		"A user deleted the schedule of snapshots. The snapshots in the store stay.",
		"If nothing else takes backups, create a schedule: kubectl etcd snapshot schedule NAME --to URL.")
	SnapshotTaken = events.Add("SnapshotTaken",
		"A user requested a snapshot from etcd-druid's backup-restore, which wrote it into the backup store.",
		policy.NoAction)
)
