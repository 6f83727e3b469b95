// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// MayDisarm says whether an alarm is worth disarming: whether what raised it is gone.
// data is only looked at for CORRUPT.
func MayDisarm(members []Database, alarm string, data Comparison) Verdict {
	if v := allWell(members); !v.Allowed {
		return v
	}
	switch alarm {
	case Corrupt:
		return mayDisarmCorrupt(members, data)
	case NoSpace:
		return mayDisarmNoSpace(members)
	}
	return allowed(AllReady, "%s well", count1(len(members), "member"))
}

func mayDisarmCorrupt(members []Database, data Comparison) Verdict {
	if i := slices.IndexFunc(members, func(d Database) bool { return d.Learner }); i >= 0 {
		return refused(LearnerPresent, "%s is a learner, whose data can't be compared: wait until it votes, or remove it", members[i].Pod)
	}
	switch {
	case len(data.Groups) > 1:
		return refused(CorruptAlarm, "%s: replace the one that is wrong first (kubectl etcd check, kubectl etcd member replace)", data.differ())
	case data.Unknown != "":
		return refused(CorruptAlarm, "whether the voters' data are the same could not be seen: %s", data.Unknown)
	case !data.agree():
		return refused(CorruptAlarm, "the voters' data were not compared")
	case len(data.Groups[0]) < len(members):
		return refused(CorruptAlarm, "the data of %d of %s were compared", len(data.Groups[0]), count1(len(members), "voter"))
	case len(members) == 1:
		return allowed(AllReady, "it is the only voter: there is nothing that its data could differ from")
	}
	return allowed(AllReady, "at revision %d the data of all %d voters are the same", data.Revision, len(members))
}

func mayDisarmNoSpace(members []Database) Verdict {
	for _, m := range members {
		switch {
		case m.full(m.InUse):
			return refused(DatabaseFull, "%s uses %s of its quota of %s, more than %d %%: the alarm would come back; delete keys, or raise the quota",
				m.Pod, gibibytes(m.InUse), gibibytes(m.Quota), QuotaRoom)
		case m.full(m.Size):
			return refused(DatabaseFull, "the database of %s has %s of its quota of %s, more than %d %%, and %s of it in use: the alarm would come back; defragment it first (kubectl etcd defrag)",
				m.Pod, gibibytes(m.Size), gibibytes(m.Quota), QuotaRoom, gibibytes(m.InUse))
		}
	}
	v := allowed(SpaceFree, "every database leaves more than %d %% of its quota", 100-QuotaRoom)
	if i := slices.IndexFunc(members, func(d Database) bool { return d.Quota == 0 }); i >= 0 {
		v.Notes = []Note{{QuotaUnknown, "the quota of " + members[i].Pod + " is not known: whether the alarm comes back will show"}}
	}
	return v
}
