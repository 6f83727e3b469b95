// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package maintenance has the rules about defragmentation, alarms and leadership. Its table is
// docs/rules/maintenance.md.
package maintenance

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Database is the facts about one member, its database and the readers of the database.
type Database struct {
	// Pod is the pod's name, or the member's ID if it runs in no pod.
	Pod string
	// Trouble is why the member is not healthy, as text. It is empty for a member that has
	// just answered as this member of this cluster and follows a leader.
	Trouble         string
	Learner, Leader bool
	// Applied is its applied raft index.
	Applied uint64
	// Size is the size of the database file, and InUse how much of it is in use, in bytes.
	// Quota is 0 if it is unknown.
	Size, InUse, Quota int64
	// Alarms are the alarms that are raised for it.
	Alarms []string
	// Snapshots is the number of streams of all clients that read a snapshot from it,
	// negative if it is unknown.
	Snapshots int
}

// etcd's alarms.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// QuotaRoom is how many percent of its quota a database may take if NOSPACE is disarmed. etcd
// raises the alarm again at the first write that exceeds the quota.
const QuotaRoom = 90

// HashLimit is the size of a database in bytes above which the members' data are compared on request only,
// or when etcd itself reports that they differ. A member reads its whole database for a hash, and its clients wait
// for the disk.
const HashLimit = 2 << 30

func (d Database) has(alarm string) bool { return slices.Contains(d.Alarms, alarm) }

// full reports whether a database has too little space for writes.
func (d Database) full(size int64) bool { return d.Quota > 0 && size > d.Quota/100*QuotaRoom }

// OutOfSpace reports whether NOSPACE is raised, so that etcd accepts no writes.
// unmappedAlarms are the alarms of members that are no longer in the list.
func OutOfSpace(members []Database, unmappedAlarms []string) bool {
	return slices.Contains(unmappedAlarms, NoSpace) || slices.ContainsFunc(members, func(d Database) bool { return d.has(NoSpace) })
}

// DefragOrder returns the members' pods in the order in which they are defragmented. The leader is
// last, because all writes wait while it is defragmented.
func DefragOrder(members []Database) []string {
	var order, last []string
	for _, m := range members {
		if m.Leader {
			last = append(last, m.Pod)
			continue
		}
		order = append(order, m.Pod)
	}
	return append(order, last...)
}

// MayDefrag returns whether any one member may be defragmented now. A member answers no requests
// while it is defragmented, for about a second per gigabyte. unmappedAlarms are the alarms of
// members that are no longer in the list. etcd still applies them.
func MayDefrag(c policy.Cluster, members []Database, unmappedAlarms []string) policy.Verdict {
	if i := slices.IndexFunc(members, func(d Database) bool { return d.Learner }); i >= 0 {
		return policy.Refuse(policy.LearnerPresent, "%s is a learner: a defragmentation while it receives its data has corrupted databases; wait until it votes, or remove it", members[i].Pod)
	}
	if v := allHealthy(c, members); !v.Allowed {
		return v
	}
	for _, m := range members {
		switch {
		case m.has(Corrupt):
			return policy.Refuse(CorruptAlarm, "etcd reports that the database of %s is corrupt (alarm %s): find out which members differ first (kubectl etcd check %s)", m.Pod, Corrupt, c.TargetArgs())
		case m.Snapshots > 0:
			return policy.Refuse(SnapshotOpen, "%s being read from %s: a defragmentation would wait for it, and every write would wait for the defragmentation; try again when it is complete", policy.Count(m.Snapshots, "snapshot"), m.Pod)
		case m.Snapshots < 0:
			return policy.Refuse(SnapshotsUnknown, "the metrics of %s can't be read, so it is unknown whether a snapshot is being read from it", m.Pod)
		}
	}
	if slices.Contains(unmappedAlarms, Corrupt) {
		return policy.Refuse(CorruptAlarm, "the alarm %s is raised, and not for a current member: compare the members' data (kubectl etcd check %s) and replace a member whose data differs; if all data is the same, kubectl etcd alarm disarm %s clears the alarm", Corrupt, c.TargetArgs(), c.TargetArgs())
	}
	if OutOfSpace(members, unmappedAlarms) {
		return policy.Allow(CuresNoSpace, "etcd is out of space (alarm %s): defragmentation frees space, so failing backups don't block it", NoSpace)
	}
	return policy.Precondition(c, "")
}

// MayLead returns whether leadership may be transferred to a member.
func MayLead(members []Database, pod string) policy.Verdict {
	at := slices.IndexFunc(members, func(d Database) bool { return d.Pod == pod })
	if at < 0 {
		return policy.Refuse(policy.NoSuchMember, "%s is not one of the %s", pod, policy.Count(len(members), "member"))
	}
	voters, well, leader := electorate(members)
	to := members[at]
	switch {
	case to.Leader && to.Trouble == "":
		return policy.Allow(LeadsAlready, "%s is the leader", pod)
	case well < policy.Quorum(voters) || leader < 0:
		return policy.Refuse(policy.NoQuorum, "%d of %s healthy, quorum is %d: there is no leader that can transfer its leadership", well, policy.Count(voters, "voter"), policy.Quorum(voters))
	case to.Trouble != "":
		return policy.Refuse(policy.MemberDown, "%s: %s", pod, to.Trouble)
	case to.Learner:
		return policy.Refuse(policy.LearnerPresent, "%s is a learner and can't lead: only voters can", pod)
	case to.has(Corrupt):
		return policy.Refuse(CorruptAlarm, "etcd reports that the database of %s is corrupt (alarm %s)", pod, Corrupt)
	case members[leader].Applied > to.Applied+policy.LagLimit:
		return policy.Refuse(policy.CatchingUp, "%s is %d entries behind the leader, and may be at most %d behind: wait until it has caught up", pod, members[leader].Applied-to.Applied, policy.LagLimit)
	}
	return policy.Allow(policy.QuorumKept, "%d of %s healthy, quorum is %d", well, policy.Count(voters, "voter"), policy.Quorum(voters))
}

// electorate counts the voters and those of them that are healthy, and returns the index of
// the leader, -1 for none.
func electorate(members []Database) (voters, healthy, leader int) {
	leader = -1
	for i, m := range members {
		if !m.Learner {
			voters++
		}
		if !m.Learner && m.Trouble == "" {
			healthy++
		}
		if m.Leader && m.Trouble == "" {
			leader = i
		}
	}
	return voters, healthy, leader
}

// Successor returns the pod of the voter that should lead next: the one with the highest applied
// index of those that may lead. ok is false if no other voter may lead.
func Successor(members []Database) (pod string, ok bool) {
	best := -1
	for i, m := range members {
		if m.Leader || !MayLead(members, m.Pod).Allowed {
			continue
		}
		if best < 0 || m.Applied > members[best].Applied {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	return members[best].Pod, true
}

// allHealthy refuses if a member of the list is not healthy.
func allHealthy(c policy.Cluster, members []Database) policy.Verdict {
	if len(members) == 0 {
		return policy.Refuse(policy.NoQuorum, "no member answers")
	}
	for _, m := range members {
		if m.Trouble != "" {
			well, way := wayBack(c, members, m.Pod)
			return policy.Refuse(policy.MemberDown, "%d of %s healthy, and all must be; %s: %s; %s", well, policy.Count(len(members), "member"), m.Pod, m.Trouble, way)
		}
	}
	return policy.Allow(policy.AllReady, "%s, all healthy", policy.Count(len(members), "member"))
}

// wayBack returns how many members are healthy, and how one that is not becomes healthy. Without a quorum, no member can
// be replaced.
func wayBack(c policy.Cluster, members []Database, pod string) (well int, way string) {
	voters, healthy := 0, 0
	for _, m := range members {
		if m.Trouble == "" {
			well++
		}
		if !m.Learner {
			voters++
			if m.Trouble == "" {
				healthy++
			}
		}
	}
	if healthy < policy.Quorum(voters) {
		return well, fmt.Sprintf("the quorum of %d comes first: kubectl etcd diagnose %s shows how", policy.Quorum(voters), c.TargetArgs())
	}
	return well, fmt.Sprintf("bring it back, or replace it if its data is lost (kubectl etcd member replace %s %s)", c.TargetArgs(), pod)
}
