// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// stricken returns a cluster whose members are written as letters:
//
//	a  one that answers and follows no leader       g  the same, and its claim is gone
//	s  one that doesn't answer, and has its data    u  one of whose data nothing is known
//	c  one that crashes, and has its data           r  one that is ready, and could not be asked
//	l  one that doesn't answer, and its claim is being deleted
//	b  one that answers and follows no leader, and its claim is being deleted
//	n  one whose claim is gone                      d  one whose log shows that its data is lost
func stricken(members string) Facts {
	f := cluster(strings.Repeat("x", len(members)), conditions(policy.False, policy.False, policy.True))
	for i, letter := range members {
		m := &f.Members[i]
		switch letter {
		case 'a', 'g', 'b':
			m.Answer = NoLeader
		case 'c':
			m.Pod = PodWaiting
		case 'u':
			m.Data = DataUnread
		case 'l':
			m.Data = DataLeaving
		case 'r':
			m.Pod, m.Answer, m.Lease = PodReady, NotAsked, LeaseFresh
		case 'd':
			m.Data, m.Pod = DataDamaged, PodWaiting
		}
		switch letter {
		case 'g', 'n':
			m.Data = DataNone
		case 'b':
			m.Data = DataLeaving
		}
	}
	return f
}

// TestLostQuorumLosesNoData walks every cluster of up to five members without a quorum. A backup is only named where
// no member can have data, and recover only where it acts with exactly the members that the command names.
func TestLostQuorumLosesNoData(t *testing.T) {
	t.Parallel()
	done := map[Do]int{}
	for _, members := range groups("ascurlgbnd", 5)[1:] {
		for _, change := range []func(*Facts){
			func(*Facts) {},
			func(f *Facts) { f.NotRestorable = "it has no backup store" },
			func(f *Facts) { f.ListKnown, f.Voters = false, len(members)+1 },
		} {
			f := stricken(members)
			change(&f)
			i := slices.IndexFunc(Diagnose(f).Scenarios, func(s Scenario) bool { return s.ID == "S-10" })
			if i < 0 {
				continue
			}
			a := Diagnose(f).Scenarios[i].Action
			done[a.Do]++
			if wrong := wrongAfterLoss(members, f, a); wrong != "" {
				t.Fatalf("%s, %q, voters %d: %s %s%s: %s\n%s", members, f.NotRestorable, f.Voters, a.Do, a.Member, a.Lost, wrong, a.Why)
			}
		}
	}
	for _, do := range []Do{InspectPod, Recover, SaveSnapshot, ListSnapshots} {
		if done[do] == 0 {
			t.Errorf("%s is never advised: %v", do, done)
		}
	}
}

// wrongAfterLoss returns why an action is not the least one, empty if it is. It counts letters.
//
//nolint:gocyclo // one case a promise
func wrongAfterLoss(members string, f Facts, a Action) string {
	of := func(letters string) (n int) {
		for _, letter := range letters {
			n += strings.Count(members, string(letter))
		}
		return n
	}
	answering, silent, shown := of("agb"), of("scurl"), of("nd")
	voters := max(f.Voters, len(members))
	hidden := voters - len(members)
	few := 2*(voters-shown) <= voters
	switch {
	case a.Do == ListSnapshots && answering+silent+hidden > 0:
		return "a member may have all data"
	case few && answering+silent > 0 && !slices.Contains([]Do{InspectPod, Recover, SaveSnapshot}, a.Do):
		return "a member that may have data is not named"
	case few && silent > 0 && a.Do == InspectPod && !strings.ContainsAny(letterOf(members, a.Member), "scurl"):
		return "it is not one that may have data"
	case a.Do == SaveSnapshot && answering == 0:
		return "none answers"
	case a.Do == SaveSnapshot && few && silent+hidden > 0 && !strings.Contains(a.Why, "Don't restore it before"):
		return "a silent member may have more"
	case a.Do == Recover && of("b") > 0:
		return "recover refuses while a survivor's claim is being deleted"
	case a.Do == Recover:
		return wrongRecovery(members, f, a)
	}
	return ""
}

// wrongRecovery returns why recover would refuse its command, or why it names other members than those without claims.
func wrongRecovery(members string, f Facts, a Action) string {
	byUser := slices.Contains(a.Lost, "POD")
	lost := slices.DeleteFunc(slices.Clone(a.Lost), func(name string) bool { return name == "POD" })
	for _, m := range f.Members {
		letter := letterOf(members, m.Name)
		if slices.Contains(lost, m.Name) != (letter == "n") {
			return "it names " + m.Name
		}
		if letter == "d" && byUser {
			lost = append(lost, m.Name)
		}
	}
	if _, v := MayRecover(f, lost); !v.Allowed || f.NotRestorable != "" {
		return "recover refuses: " + v.Message
	}
	return ""
}

func letterOf(members, name string) string { return members[name[len(name)-1]-'0':][:1] }

// TestRecoverBelowBackup: the command that restores a survivor is refused if a backup has more, and the reason has both
// revisions and the way to the backup.
func TestRecoverBelowBackup(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		revision, backup int64
		want             bool
	}{{0, 0, false}, {4000, 0, false}, {0, 5000, false}, {4000, 4000, false}, {4000, 5000, true}} {
		f := cluster("vxx", conditions(policy.False, policy.False, policy.True), each(func(m *Member) { m.Data = DataNone }), at(0, func(m *Member) { m.Data, m.Answer = DataValid, NoLeader }))
		f.Revision, f.Backup = row.revision, row.backup
		a := Diagnose(f).Scenarios[0].Action
		const want = "The backups have revision 5000, and the members that answer have 4000 at most: so the command refuses, unless --member names the one to restore. To see the backups: kubectl etcd snapshot list NAME. To restore one: kubectl etcd snapshot restore FILE NAME."
		if a.Do != Recover || strings.Contains(a.Why, want) != row.want || strings.Contains(a.Why, "backups") != row.want {
			t.Errorf("%+v: %s: %s", row, a.Do, a.Why)
		}
	}
}
