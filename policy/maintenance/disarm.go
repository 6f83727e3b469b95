// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// MayDisarm returns whether an alarm may be disarmed, which needs that its cause is gone. data is
// only used for CORRUPT, and c only for messages.
func MayDisarm(c policy.Cluster, members []Database, alarm string, data Comparison) policy.Verdict {
	if v := allHealthy(c, members); !v.Allowed {
		return v
	}
	switch alarm {
	case Corrupt:
		return mayDisarmCorrupt(c, members, data)
	case NoSpace:
		return mayDisarmNoSpace(c, members)
	}
	return policy.Allow(policy.AllReady, "%s, all healthy", policy.Count(len(members), "member"))
}

func mayDisarmCorrupt(c policy.Cluster, members []Database, data Comparison) policy.Verdict {
	if i := slices.IndexFunc(members, func(d Database) bool { return d.Learner }); i >= 0 {
		return policy.Refuse(policy.LearnerPresent, "%s is a learner, whose data can't be compared: wait until it votes, or remove it", members[i].Pod)
	}
	switch {
	case len(data.Groups) > 1:
		return policy.Refuse(CorruptAlarm, "%s: first replace the member whose data is wrong (kubectl etcd check %s shows which, and kubectl etcd member replace POD -n %s replaces it)", data.describe(), c.TargetArgs(), cmp.Or(c.Namespace, "NAMESPACE"))
	case data.Unknown != "":
		return policy.Refuse(CorruptAlarm, "the voters' data could not be compared: %s", data.Unknown)
	case !data.agree():
		return policy.Refuse(CorruptAlarm, "the voters' data was not compared")
	case len(data.Groups[0]) < len(members):
		return policy.Refuse(CorruptAlarm, "the data of %d of %s was compared", len(data.Groups[0]), policy.Count(len(members), "voter"))
	case len(members) == 1:
		return policy.Allow(policy.AllReady, "it is the only voter, so its data can't differ")
	}
	return policy.Allow(policy.AllReady, "at revision %d the data of all %d voters is the same", data.Revision, len(members))
}

func mayDisarmNoSpace(c policy.Cluster, members []Database) policy.Verdict {
	for _, m := range members {
		switch {
		case m.full(m.InUse):
			return policy.Refuse(DatabaseFull, "%s uses %s of its quota of %s, more than %d %%: the alarm would come back; delete keys, or raise the quota",
				m.Pod, policy.Bytes(m.InUse), policy.Bytes(m.Quota), QuotaRoom)
		case m.full(m.Size):
			return policy.Refuse(DatabaseFull, "the database of %s has %s of its quota of %s, more than %d %%, and %s of it in use: the alarm would come back; defragment it first (kubectl etcd defrag %s)",
				m.Pod, policy.Bytes(m.Size), policy.Bytes(m.Quota), QuotaRoom, policy.Bytes(m.InUse), c.TargetArgs())
		}
	}
	v := policy.Allow(SpaceFree, "every database leaves more than %d %% of its quota", 100-QuotaRoom)
	if i := slices.IndexFunc(members, func(d Database) bool { return d.Quota == 0 }); i >= 0 {
		v.Notes = []policy.Note{policy.NewNote(QuotaUnknown, "the quota of %s is not known, so the alarm may be raised again", members[i].Pod)}
	}
	return v
}
