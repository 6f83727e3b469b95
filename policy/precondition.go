// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
)

// Precondition returns whether a cluster's state allows an operation that stops or removes a
// member: restart, rollout, scale-in, defragmentation, removal or replacement. cures is the pod
// whose broken member the operation removes, replaces or repairs, and "" for any other operation.
// An operation that cures needs only a quorum, which MayRemove checks. It is also allowed during
// a scale operation or rollout, which may wait for that member and would never end.
//
// For a single member, the operation interrupts the whole cluster. The caller decides whether
// that is acceptable, and Precondition allows it.
func Precondition(c Cluster, cures string) Verdict {
	switch {
	case c.TrafficCut:
		return Refuse(ClientTrafficCut, "client traffic is cut: a member that restarts can't rejoin until it is restored (kubectl etcd restore-client-traffic %s)", c.TargetArgs())
	case c.Operation != "" && cures == "":
		return Refuse(OperationUnderWay, "a change is under way (%s): wait until it is over", c.Operation)
	case cures != "":
		return Allow(CuresMember, "%s is the broken member", cures)
	case c.Stale:
		return Refuse(FactsStale, "the current state of the members is unknown")
	}
	if v, bad := membersReady(c); bad {
		return v
	}
	if c.AllMembersReady.Value() == False {
		return Refuse(ConditionFalse, "AllMembersReady is False: %s", c.AllMembersReady.Reason)
	}
	switch c.BackupReady.Value() {
	case False:
		return Refuse(BackupFailing, "BackupReady is False (%s): recent data may not be in any backup", c.BackupReady.Reason)
	case Unknown:
		v := Allow(AllReady, "%s, all ready", Count(len(c.Members), "member"))
		v.Notes = []Note{NewNote(BackupUnknown, "it is not known whether backups succeed")}
		return v
	case Absent, True:
	}
	return Allow(AllReady, "%s, all ready", Count(len(c.Members), "member"))
}

func membersReady(c Cluster) (Verdict, bool) {
	if i := slices.IndexFunc(c.Members, func(m Member) bool { return m.Learner }); i >= 0 {
		return Refuse(LearnerPresent, "%s is a learner: wait until it votes, or remove it", c.Members[i].Pod), true
	}
	var down []string
	for _, m := range c.Members {
		if !m.Exists || !m.Ready || !m.PodReady {
			down = append(down, m.Pod)
		}
	}
	if len(down) > 0 {
		return Refuse(MemberDown, "%d of %s ready: %s", len(c.Members)-len(down), Count(c.Size, "member"), Names(down, "is not", "are not")+NodesLost(c.Members)), true
	}
	if missing := c.Size - len(c.Members); missing > 0 {
		return Refuse(MemberDown, "%d of %s ready: %d missing", len(c.Members), Count(c.Size, "member"), missing), true
	}
	return Verdict{}, false
}
