// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// fallen returns a cluster without a quorum, whose members are written as letters:
//
//	a  one that answers and follows no leader    s  one that doesn't answer, and has its data
//	n  the same, and its volume is not there     u  one of whose data nothing is known
//	m  one whose volume is not there, and that is not declared to be lost
//	f  one that answers and follows a leader     d  one that doesn't answer, and is declared to be lost
//	r  one that could not be asked, whose pod is ready and whose volume is not there
func fallen(members string, change ...func(*Facts)) (f Facts, declared []string) {
	f = Facts{At: noon, Clusters: 1, Formed: true, Desired: len(members), Replicas: len(members), Voters: len(members)}
	for at, letter := range members {
		m := member('x', at)
		switch letter {
		case 'a':
			m.Pod, m.Answer = PodUnready, NoLeader
		case 'f':
			m.Pod, m.Answer = PodReady, Follows
		case 'n':
			m.Data, m.Pod, m.Damage = DataNone, PodPending, "there is no claim"
			declared = append(declared, m.Name)
		case 'm':
			m.Data, m.Pod, m.Damage = DataNone, PodPending, "there is no claim"
		case 'r':
			m.Data, m.Pod, m.Answer = DataNone, PodReady, NotAsked
		case 'u':
			m.Data, m.Pod = DataUnread, PodUnready
		case 'd':
			declared = append(declared, m.Name)
		}
		m.Listed, m.Lease, m.Status = ListUnread, NoLease, StatusNone
		f.Members = append(f.Members, m)
	}
	for _, c := range change {
		c(&f)
	}
	return f, declared
}

var recoverRows = []struct {
	row, members string
	change       func(*Facts)
	declare      []string
	want         policy.Reason
	survivors    string
}{
	{row: "RV-1", members: "ann", declare: []string{"main-7"}, want: NotAMember},
	{row: "RV-2", members: "aan", declare: []string{"main-1"}, want: StillAnswers},
	{row: "RV-2", members: "fan", declare: []string{"main-0"}, want: StillAnswers},
	{row: "RV-3", members: "ann", change: func(f *Facts) { f.Clusters = 2 }, want: RecoverSplit},
	{row: "RV-4", members: "ann", change: func(f *Facts) { f.Desired = 0 }, want: RecoverHibernated},
	{row: "RV-5", members: "ffn", want: QuorumNotLost},
	{row: "RV-5", members: "fff", want: QuorumNotLost},
	{row: "RV-6", members: "an", change: func(f *Facts) { f.Voters, f.ScaledIn = 3, true }, want: ScaledAway},
	{row: "RV-7", members: "asn", want: DataMayReturn, survivors: "main-0"},
	{row: "RV-7", members: "aun", want: DataMayReturn, survivors: "main-0"},
	{row: "RV-7", members: "sss", want: DataMayReturn},
	{row: "RV-7", members: "aasnn", want: DataMayReturn, survivors: "main-0 main-1"},
	{row: "RV-7", members: "aan", want: DataMayReturn, survivors: "main-0 main-1"},
	{row: "RV-7", members: "an", change: func(f *Facts) { f.Voters = 3 }, want: DataMayReturn, survivors: "main-0"},
	{row: "RV-7", members: "amm", want: DataMayReturn, survivors: "main-0"},
	{row: "RV-8", members: "nnn", want: NoSurvivor},
	{row: "RV-8", members: "ddd", want: NoSurvivor},
	{row: "RV-8", members: "mdd", want: NoSurvivor},
	{row: "RV-10", members: "nns", want: SurvivorSilent},
	{row: "RV-10", members: "sdd", want: SurvivorSilent},
	{row: "RV-10", members: "udd", want: SurvivorSilent},
	{row: "RV-10", members: "rdd", want: SurvivorSilent},
	{row: "RV-10", members: "asddd", want: SurvivorSilent, survivors: "main-0"},
	{row: "RV-10", members: "add", change: func(f *Facts) { f.Voters = 4 }, want: SurvivorSilent, survivors: "main-0"},
	{row: "RV-10", members: "annn", change: func(f *Facts) { f.Voters = 5 }, want: SurvivorSilent, survivors: "main-0"},
	{row: "RV-10", members: "ddd", change: func(f *Facts) { f.Voters = 4 }, want: SurvivorSilent},
	{row: "RV-9", members: "amddd", want: SurvivorsRecover, survivors: "main-0"},
	{row: "RV-9", members: "ann", change: func(f *Facts) { f.Operation = "rollout" }, want: SurvivorsRecover, survivors: "main-0"},
	{row: "RV-9", members: "ann", change: func(f *Facts) { f.Members[0].Data = DataNone }, want: SurvivorsRecover, survivors: "main-0"},
	{row: "RV-8", members: "ann", change: func(f *Facts) { f.Members[0].Data = DataDamaged }, want: NoSurvivor},
	{row: "RV-9", members: "ann", want: SurvivorsRecover, survivors: "main-0"},
	{row: "RV-9", members: "add", want: SurvivorsRecover, survivors: "main-0"},
	{row: "RV-9", members: "and", want: SurvivorsRecover, survivors: "main-0"},
	{row: "RV-9", members: "aandn", want: SurvivorsRecover, survivors: "main-0 main-1"},
	{row: "RV-9", members: "an", change: func(f *Facts) { f.Voters, f.AwayGone = 3, 1 }, want: SurvivorsRecover, survivors: "main-0"},
}

func TestMayRecover(t *testing.T) {
	t.Parallel()
	for _, row := range recoverRows {
		f, declared := fallen(row.members)
		if row.change != nil {
			row.change(&f)
		}
		survivors, v := MayRecover(f, append(declared, row.declare...))
		if v.Reason != row.want || v.Allowed != (row.want == SurvivorsRecover) {
			t.Errorf("%s, %s: %s %q, want %s", row.row, row.members, v.Reason, v.Message, row.want)
		}
		if want := fmt.Sprint(row.survivors); v.Allowed && fmt.Sprint(survivors) != "["+want+"]" {
			t.Errorf("%s, %s: survivors %q, want %s", row.row, row.members, survivors, want)
		}
	}
}

// TestMayReadVolumes: a volume is read only where the members that have their data are no quorum, and never makes one that could
// come back be given up. A single member that doesn't answer may list others that are gone.
func TestMayReadVolumes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		members, lost, volumes string
		want                   policy.Reason
	}{
		{"sss", "", "main-0 main-1 main-2", DataMayReturn},
		{"asn", "", "main-1", DataMayReturn},
		{"ass", "", "main-1 main-2", DataMayReturn},
		{"sss", "main-2", "main-0 main-1", DataMayReturn},
		{"sddd", "", "main-0", NoSurvivor},
		{"sdd", "", "main-0", NoSurvivor},
		{"snn", "", "main-0", NoSurvivor},
		{"sss", "main-1 main-2", "main-0", NoSurvivor},
		{"ssddd", "", "main-0", SurvivorSilent},
		{"ssddd", "", "main-0 main-1", NoSurvivor},
		{"asddd", "", "main-1", SurvivorsRecover},
		{"s", "", "main-0", NoSurvivor},
		{"f", "", "main-0", QuorumNotLost},
		{"ffn", "", "main-2", QuorumNotLost},
		{"add", "", "main-0", SurvivorsRecover},
	} {
		f, declared := fallen(row.members)
		declared = append(declared, strings.Fields(row.lost)...)
		if _, v := MayReadVolumes(f, declared, strings.Fields(row.volumes)); v.Reason != row.want {
			t.Errorf("%s, lost %q, volumes %q: %s %q, want %s", row.members, declared, row.volumes, v.Reason, v.Message, row.want)
		}
	}
}

// TestRecoverLosesNoQuorum walks every cluster of up to five members. Recover only acts where a naive count
// shows that the members with data can't be a quorum, and where one of them answers.
func TestRecoverLosesNoQuorum(t *testing.T) {
	t.Parallel()
	const letters = "asnudfm"
	acted := 0
	var walk func(members string)
	walk = func(members string) {
		if n := len(members); n > 0 {
			f, declared := fallen(members)
			survivors, v := MayRecover(f, declared)
			answering := strings.Count(members, "a") + strings.Count(members, "f")
			unknown := strings.Count(members, "s") + strings.Count(members, "u")
			data := answering + unknown + strings.Count(members, "m")
			if want := data < n/2+1 && answering > 0 && unknown == 0; v.Allowed != want {
				t.Errorf("%s: allowed %t, want %t: %s", members, v.Allowed, want, v.Message)
			}
			if v.Reason == NoSurvivor && unknown+answering > 0 {
				t.Errorf("%s: %s, and a member may have all data", members, v.Message)
			}
			if v.Allowed {
				acted++
			}
			if v.Allowed && (len(survivors) != answering || slices.ContainsFunc(declared, func(d string) bool { return slices.Contains(survivors, d) })) {
				t.Errorf("%s: survivors %q", members, survivors)
			}
		}
		if len(members) == 5 {
			return
		}
		for _, letter := range letters {
			walk(members + string(letter))
		}
	}
	walk("")
	if acted < 100 {
		t.Errorf("recover acts in %d clusters only", acted)
	}
}
