// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package maintenance has the rules about defragmentation, alarms and leadership. Its table is
// docs/rules/maintenance.md.
package maintenance

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/format"
)

// Database is what the rules of maintenance see of one member: itself, its
// database, and who reads that.
type Database struct {
	// Pod is the pod's name, or the member's ID where it runs in none.
	Pod string
	// Trouble says why the member is not well, in words, and is empty for one that
	// answered for itself just now, as this member of this cluster, and follows a
	// leader.
	Trouble         string
	Learner, Leader bool
	// Applied is how far it has got in the raft log.
	Applied uint64
	// Size is the database file's and InUse what is used of it, in bytes. Quota is 0
	// where it isn't known.
	Size, InUse, Quota int64
	// Alarms are those raised for it.
	Alarms []string
	// Snapshots counts the streams that read a snapshot from it, by whomever; it is
	// negative where that isn't known.
	Snapshots int
}

// etcd's alarms.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// QuotaRoom is how many percent of the quota a database may have for an alarm to be
// worth disarming: etcd raises it again at the first write that doesn't fit.
const QuotaRoom = 90

func (d Database) has(alarm string) bool { return slices.Contains(d.Alarms, alarm) }

// full says that a database leaves too little room for writes.
func (d Database) full(size int64) bool { return d.Quota > 0 && size > d.Quota/100*QuotaRoom }

// OutOfSpace reports whether NOSPACE is raised, so that etcd takes no writes.
// unmappedAlarms are the alarms of members that are no longer in the list.
func OutOfSpace(members []Database, unmappedAlarms []string) bool {
	return slices.Contains(unmappedAlarms, NoSpace) || slices.ContainsFunc(members, func(d Database) bool { return d.has(NoSpace) })
}

// DefragOrder is the members' pods in the order in which they are defragmented: the
// leader last, since what it doesn't do nobody does.
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

// MayDefrag says whether a member of the cluster, any one, may be defragmented now.
// It answers no request meanwhile, for about a second per gigabyte. unmappedAlarms are
// the alarms of members that are no longer in the list. They are in force all the same.
func MayDefrag(c policy.Cluster, members []Database, unmappedAlarms []string) policy.Verdict {
	if i := slices.IndexFunc(members, func(d Database) bool { return d.Learner }); i >= 0 {
		return policy.Refuse(policy.LearnerPresent, "%s is a learner: a defragmentation while it receives its data has corrupted databases; wait until it votes, or remove it", members[i].Pod)
	}
	if v := allHealthy(members); !v.Allowed {
		return v
	}
	for _, m := range members {
		switch {
		case m.has(Corrupt):
			return policy.Refuse(CorruptAlarm, "etcd reports that the database of %s is corrupt (alarm %s): find out which members differ first (kubectl etcd check)", m.Pod, Corrupt)
		case m.Snapshots > 0:
			return policy.Refuse(SnapshotOpen, "%s being read from %s: a defragmentation would wait for it, and every write would wait for the defragmentation; try again when it is complete", format.Count(m.Snapshots, "snapshot"), m.Pod)
		case m.Snapshots < 0:
			return policy.Refuse(SnapshotsUnknown, "the metrics of %s can't be read, so it is unknown whether a snapshot is being read from it", m.Pod)
		}
	}
	if slices.Contains(unmappedAlarms, Corrupt) {
		return policy.Refuse(CorruptAlarm, "the alarm %s is raised, and not for a current member: compare the members' data (kubectl etcd check) and replace a member whose data differs; if all data is the same, kubectl etcd alarm disarm clears the alarm", Corrupt)
	}
	if OutOfSpace(members, unmappedAlarms) {
		return policy.Allow(CuresNoSpace, "etcd is out of space (alarm %s): defragmentation frees space, so failing backups are no objection", NoSpace)
	}
	return policy.Precondition(c, "")
}

// MayLead says whether the leadership may be handed to a member.
func MayLead(members []Database, pod string) policy.Verdict {
	at := slices.IndexFunc(members, func(d Database) bool { return d.Pod == pod })
	if at < 0 {
		return policy.Refuse(policy.NoSuchMember, "%s is not one of the %s", pod, format.Count(len(members), "member"))
	}
	voters, well, leader := electorate(members)
	to := members[at]
	switch {
	case to.Leader && to.Trouble == "":
		return policy.Allow(LeadsAlready, "%s is the leader", pod)
	case well < policy.Quorum(voters) || leader < 0:
		return policy.Refuse(policy.NoQuorum, "%d of %s healthy, quorum is %d: there is no leader that can transfer its leadership", well, format.Count(voters, "voter"), policy.Quorum(voters))
	case to.Trouble != "":
		return policy.Refuse(policy.MemberDown, "%s: %s", pod, to.Trouble)
	case to.Learner:
		return policy.Refuse(policy.LearnerPresent, "%s is a learner and can't lead: only voters can", pod)
	case to.has(Corrupt):
		return policy.Refuse(CorruptAlarm, "etcd reports that the database of %s is corrupt (alarm %s)", pod, Corrupt)
	case members[leader].Applied > to.Applied+policy.LagLimit:
		return policy.Refuse(policy.CatchingUp, "%s is %d entries behind the leader, and may be at most %d behind: wait until it has caught up", pod, members[leader].Applied-to.Applied, policy.LagLimit)
	}
	return policy.Allow(policy.QuorumKept, "%d of %s healthy, quorum is %d", well, format.Count(voters, "voter"), policy.Quorum(voters))
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

// Successor is the pod of the voter that should lead next: the one that has got
// furthest of those that may. ok is false where no other may.
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

// allHealthy refuses where a member of the list is not well.
func allHealthy(members []Database) policy.Verdict {
	if len(members) == 0 {
		return policy.Refuse(policy.NoQuorum, "no member answers")
	}
	for _, m := range members {
		if m.Trouble != "" {
			well := 0
			for _, m := range members {
				if m.Trouble == "" {
					well++
				}
			}
			return policy.Refuse(policy.MemberDown, "%d of %s healthy, and all must be; %s: %s; bring it back or replace it first (kubectl etcd member replace)",
				well, format.Count(len(members), "member"), m.Pod, m.Trouble)
		}
	}
	return policy.Allow(policy.AllReady, "%s, all healthy", format.Count(len(members), "member"))
}

func formatBytes(bytes int64) string {
	const mebi = 1 << 20
	if bytes < 1024*mebi {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/mebi)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1024*mebi))
}
