// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// databases writes the members as a string, one letter each: v a voter that is
// well, L the leader, x one that is down, l a learner.
func databases(letters string, change func([]Database)) []Database {
	var all []Database
	for i, letter := range letters {
		d := Database{
			Pod: fmt.Sprintf("main-%d", i), Leader: letter == 'L', Learner: letter == 'l',
			Applied: 5000, Size: 100 << 20, InUse: 10 << 20, Quota: 2 << 30,
		}
		if letter == 'x' {
			d.Trouble = "does not answer"
		}
		all = append(all, d)
	}
	if change != nil {
		change(all)
	}
	return all
}

func defrag(c policy.Cluster, unmappedAlarms ...string) func([]Database) policy.Verdict {
	return func(m []Database) policy.Verdict { return MayDefrag(c, m, unmappedAlarms) }
}

func lead(pod string) func([]Database) policy.Verdict {
	return func(m []Database) policy.Verdict { return MayLead(m, pod) }
}

// disarm asks with the voters in groups that have the same data: "main-0 main-1".
func disarm(alarm string, groups ...string) func([]Database) policy.Verdict {
	data := Comparison{Revision: 12}
	for _, pods := range groups {
		data.Groups = append(data.Groups, strings.Fields(pods))
	}
	return func(m []Database) policy.Verdict { return MayDisarm(policytest.ClusterOf("vvv"), m, alarm, data) }
}

func disarmUnseen(m []Database) policy.Verdict {
	return MayDisarm(policytest.ClusterOf("vvv"), m, Corrupt, Comparison{Revision: 12, Groups: [][]string{{"main-0", "main-1"}}, Unknown: "main-2: needs root"})
}

func backupsFail(c policy.Cluster) policy.Cluster {
	c.BackupReady = policy.Condition{Status: policy.False, Reason: "BackupFailed"}
	return c
}

// maintenanceRows are the rows of docs/rules/maintenance.md.
var maintenanceRows = []struct {
	row, members string
	change       func([]Database)
	ask          func([]Database) policy.Verdict
	allowed      bool
	reason       policy.Reason
}{
	{row: "D-1 all well", members: "Lvv", ask: defrag(policytest.ClusterOf("vvv")), allowed: true, reason: policy.AllReady},
	{row: "D-1 a single member", members: "L", ask: defrag(policytest.ClusterOf("v")), allowed: true, reason: policy.AllReady},
	{row: "D-2 one is down", members: "Lvx", ask: defrag(policytest.ClusterOf("vvv")), reason: policy.MemberDown},
	{row: "D-2 also out of space", members: "Lvx", change: outOfSpace, ask: defrag(policytest.ClusterOf("vvx")), reason: policy.MemberDown},
	{row: "D-2 no members", members: "", ask: defrag(policytest.ClusterOf("")), reason: policy.NoQuorum},
	{row: "D-3 a learner", members: "Lvvl", ask: defrag(policytest.ClusterOf("vvvV")), reason: policy.LearnerPresent},
	{row: "D-3 also out of space", members: "Lvvl", change: outOfSpace, ask: defrag(policytest.ClusterOf("vvvV")), reason: policy.LearnerPresent},
	{row: "D-4 a snapshot of any member", members: "Lvv", change: func(m []Database) { m[2].Snapshots = 1 }, ask: defrag(policytest.ClusterOf("vvv")), reason: SnapshotOpen},
	{row: "D-4 not known", members: "Lvv", change: func(m []Database) { m[1].Snapshots = -1 }, ask: defrag(policytest.ClusterOf("vvv")), reason: SnapshotsUnknown},
	{row: "D-4 also out of space", members: "Lvv", change: func(m []Database) { outOfSpace(m); m[2].Snapshots = 1 }, ask: defrag(policytest.ClusterOf("vvv")), reason: SnapshotOpen},
	{row: "D-5 corrupt", members: "Lvv", change: func(m []Database) { m[1].Alarms = []string{Corrupt} }, ask: defrag(policytest.ClusterOf("vvv")), reason: CorruptAlarm},
	{row: "D-5 of a removed member", members: "Lvv", ask: defrag(policytest.ClusterOf("vvv"), Corrupt, NoSpace), reason: CorruptAlarm},
	{row: "D-6 backups fail", members: "Lvv", ask: defrag(backupsFail(policytest.ClusterOf("vvv"))), reason: policy.BackupFailing},
	{row: "D-6 a pod is not Ready", members: "Lvv", ask: defrag(policytest.ClusterOf("vvm")), reason: policy.MemberDown},
	{row: "D-7 out of space, backups fail", members: "Lvv", change: outOfSpace, ask: defrag(backupsFail(policytest.ClusterOf("vvv"))), allowed: true, reason: CuresNoSpace},
	{row: "D-7 out of space, no pod is Ready", members: "Lvv", change: outOfSpace, ask: defrag(policytest.ClusterOf("mmm")), allowed: true, reason: CuresNoSpace},
	{row: "D-7 of a removed member", members: "Lvv", ask: defrag(backupsFail(policytest.ClusterOf("vvv")), NoSpace), allowed: true, reason: CuresNoSpace},
	{row: "D-2 also out of space, of a removed member", members: "Lvx", ask: defrag(policytest.ClusterOf("vvx"), NoSpace), reason: policy.MemberDown},

	{row: "D-10 a voter", members: "Lvv", ask: lead("main-1"), allowed: true, reason: policy.QuorumKept},
	{row: "D-10 one of three is down", members: "Lvx", ask: lead("main-1"), allowed: true, reason: policy.QuorumKept},
	{row: "D-11 who is down", members: "Lvx", ask: lead("main-2"), reason: policy.MemberDown},
	{row: "D-12 a learner", members: "Lvvl", ask: lead("main-3"), reason: policy.LearnerPresent},
	{row: "D-13 far behind", members: "Lvv", change: func(m []Database) { m[1].Applied -= policy.LagLimit + 1 }, ask: lead("main-1"), reason: policy.CatchingUp},
	{row: "D-13 near enough", members: "Lvv", change: func(m []Database) { m[1].Applied -= policy.LagLimit }, ask: lead("main-1"), allowed: true, reason: policy.QuorumKept},
	{row: "D-13 ahead, as read a moment later", members: "Lvv", change: func(m []Database) { m[1].Applied += 3 }, ask: lead("main-1"), allowed: true, reason: policy.QuorumKept},
	{row: "D-14 no quorum", members: "vxx", ask: lead("main-0"), reason: policy.NoQuorum},
	{row: "D-14 no leader", members: "vvv", ask: lead("main-0"), reason: policy.NoQuorum},
	{row: "D-15 who leads already", members: "Lvv", ask: lead("main-0"), allowed: true, reason: LeadsAlready},
	{row: "D-16 whose data are corrupt", members: "Lvv", change: func(m []Database) { m[1].Alarms = []string{Corrupt} }, ask: lead("main-1"), reason: CorruptAlarm},
	{row: "D-17 another member", members: "Lvv", ask: lead("other-0"), reason: policy.NoSuchMember},

	{row: "D-20 room again", members: "Lvv", change: outOfSpace, ask: disarm(NoSpace), allowed: true, reason: SpaceFree},
	{row: "D-20 quota not known", members: "Lvv", change: func(m []Database) { m[1].Quota = 0 }, ask: disarm(NoSpace), allowed: true, reason: SpaceFree},
	{row: "D-21 not defragmented", members: "Lvv", change: func(m []Database) { m[1].Size = m[1].Quota }, ask: disarm(NoSpace), reason: DatabaseFull},
	{row: "D-21 full of keys", members: "Lvv", change: func(m []Database) { m[2].InUse = m[2].Quota; m[2].Size = m[2].Quota }, ask: disarm(NoSpace), reason: DatabaseFull},
	{row: "D-22 one is down", members: "Lvx", ask: disarm(NoSpace), reason: policy.MemberDown},
	{row: "D-23 corrupt, and not compared", members: "Lvv", ask: disarm(Corrupt), reason: CorruptAlarm},
	{row: "D-23 one differs", members: "Lvv", ask: disarm(Corrupt, "main-0 main-1", "main-2"), reason: CorruptAlarm},
	{row: "D-23 one was not compared", members: "Lvv", ask: disarm(Corrupt, "main-0 main-1"), reason: CorruptAlarm},
	{row: "D-23 one doesn't answer", members: "Lvv", ask: disarmUnseen, reason: CorruptAlarm},
	{row: "D-23 one is down", members: "Lvx", ask: disarm(Corrupt, "main-0 main-1"), reason: policy.MemberDown},
	{row: "D-25 corrupt once", members: "Lvv", ask: disarm(Corrupt, "main-0 main-1 main-2"), allowed: true, reason: policy.AllReady},
	{row: "D-25 no other voter", members: "L", ask: disarm(Corrupt, "main-0"), allowed: true, reason: policy.AllReady},
	{row: "D-26 corrupt, and a learner", members: "Lvvl", ask: disarm(Corrupt, "main-0 main-1 main-2"), reason: policy.LearnerPresent},
	{row: "D-24 an alarm of a later etcd", members: "Lvv", ask: disarm("ODD"), allowed: true, reason: policy.AllReady},
}

func outOfSpace(members []Database) { members[0].Alarms = []string{NoSpace} }

func TestMaintenance(t *testing.T) {
	t.Parallel()
	for _, r := range maintenanceRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			v := r.ask(databases(r.members, r.change))
			if v.Allowed != r.allowed || v.Reason != r.reason {
				t.Errorf("allowed %v, %s (%s), want %v, %s", v.Allowed, v.Reason, v.Message, r.allowed, r.reason)
			}
			if v.Message == "" {
				t.Error("no message")
			}
		})
	}
}

func TestDefragOrder(t *testing.T) {
	t.Parallel()
	if got := strings.Join(DefragOrder(databases("vLv", nil)), " "); got != "main-0 main-2 main-1" {
		t.Errorf("%s: the leader is not last", got)
	}
}

func TestSuccessor(t *testing.T) {
	t.Parallel()
	ahead := func(i int) func([]Database) { return func(m []Database) { m[i].Applied += 7 } }
	for _, c := range []struct {
		members string
		change  func([]Database)
		want    string
	}{
		{"Lvv", nil, "main-1"},
		{"Lvv", ahead(2), "main-2"},
		{"Lxv", nil, "main-2"},
		{"Lxv", ahead(1), "main-2"},
		{"Llv", ahead(1), "main-2"},
		{"vLl", nil, "main-0"},
		{"L", nil, ""},
		{"Lxx", nil, ""},
	} {
		if got, ok := Successor(databases(c.members, c.change)); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.members, got, c.want)
		}
	}
}

// TestMaintenanceNeverAtRisk asks of all members to 5 and all states of each: no
// member is defragmented while another is not healthy, and none leads that can't.
func TestMaintenanceNeverAtRisk(t *testing.T) {
	t.Parallel()
	letters := []rune("vxlL")
	for n := 1; n <= 5; n++ {
		for state := range pow(len(letters), n) {
			word := make([]rune, n)
			for i, rest := 0, state; i < n; i, rest = i+1, rest/len(letters) {
				word[i] = letters[rest%len(letters)]
			}
			members := databases(string(word), nil)
			calm := !strings.ContainsAny(string(word), "xl")
			for _, unmappedAlarms := range [][]string{nil, {NoSpace}} {
				if MayDefrag(policytest.ClusterOf(strings.Repeat("v", n)), members, unmappedAlarms).Allowed && !calm {
					t.Errorf("%s may be defragmented, with alarms %v", string(word), unmappedAlarms)
				}
			}
			pod, ok := Successor(members)
			at := slices.IndexFunc(members, func(d Database) bool { return d.Pod == pod })
			if ok && (members[at].Trouble != "" || members[at].Learner || members[at].Leader) {
				t.Errorf("%s: %s is to lead", string(word), pod)
			}
		}
	}
}

func pow(base, n int) int {
	all := 1
	for range n {
		all *= base
	}
	return all
}
