// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// Gate says whether a cluster is well enough for an act that takes a member away
// for a while or for good: restart, rollout, scale-in, defrag, removal or
// replacement. cures names the pod whose broken member the act removes, replaces
// or mends, and is empty for all other acts: such an act needs no more than a
// quorum, which MayRemove looks after. A scale or rollout under way may wait for that very
// member, and would never end.
//
// A single member is never well enough without a reason: what the act does to it
// is done to the whole cluster. That is for the caller to say; Gate lets it pass.
func Gate(c Cluster, cures string) Verdict {
	switch {
	case c.TrafficCut:
		return refused(ClientTrafficCut, "client traffic is cut: a member that restarts can't rejoin until it is restored (kubectl etcd restore-client-traffic)")
	case c.Operation != "" && cures == "":
		return refused(OperationUnderWay, "a change is under way (%s): wait until it is over", c.Operation)
	case cures != "":
		return allowed(CuresMember, "%s is the broken one", cures)
	case c.Stale:
		return refused(FactsStale, "nothing fresh is known of the members")
	}
	if v, bad := gateMembers(c); bad {
		return v
	}
	if c.AllMembersReady.Value() == False {
		return refused(ConditionFalse, "AllMembersReady is False: %s", c.AllMembersReady.Reason)
	}
	switch c.BackupReady.Value() {
	case False:
		return refused(BackupFailing, "BackupReady is False (%s): what is lost now may not be in any backup", c.BackupReady.Reason)
	case Unknown:
		v := allowed(AllReady, "%s, all ready", count1(len(c.Members), "member"))
		v.Notes = []Note{{BackupUnknown, "it is not known whether backups succeed"}}
		return v
	case Absent, True:
	}
	return allowed(AllReady, "%s, all ready", count1(len(c.Members), "member"))
}

func gateMembers(c Cluster) (Verdict, bool) {
	if i := slices.IndexFunc(c.Members, func(m Member) bool { return m.Learner }); i >= 0 {
		return refused(LearnerPresent, "%s is a learner: wait until it votes, or remove it", c.Members[i].Pod), true
	}
	var down []string
	for _, m := range c.Members {
		if !m.Exists || !m.Ready || !m.PodReady {
			down = append(down, m.Pod)
		}
	}
	if len(down) > 0 {
		return refused(MemberDown, "%d of %s ready: %s", len(c.Members)-len(down), count1(c.Size, "member"), names(down, "is not", "are not")), true
	}
	if missing := c.Size - len(c.Members); missing > 0 {
		return refused(MemberDown, "%d of %s ready: %d not there", len(c.Members), count1(c.Size, "member"), missing), true
	}
	return Verdict{}, false
}
