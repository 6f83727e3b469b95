// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// alarm raises an alarm.
func alarm(f *Facts) { f.Alarms = []string{"NOSPACE"} }

// unstopped has a restore that stopped half-way, before it stopped members.
func unstopped(f *Facts) {
	f.Operation, f.Interrupted, f.CutsTraffic, f.Unstopped = "snapshot restore", true, true, true
}

// restoring has a restore that has stopped all members.
func restoring(f *Facts) {
	f.Operation, f.CutsTraffic = "snapshot restore", true
	for i := range f.Members {
		f.Members[i].Pod, f.Members[i].Answer = PodMissing, NotAsked
	}
}

// wrongURL has a peer URL of main-2 in etcd's list that is not its.
func wrongURL(f *Facts) { f.Misaddressed = []string{"main-2"} }

// cluster returns a cluster whose members are written as letters:
//
//	v  a voter that is well            x  one that is not, its grace period over
//	w  one that is not, in its grace   u  one of which nothing is known
//	l  a learner                       o  a pod that is no member
//	e  an extra voter without a pod    L  a lease that is left over
//	s  an extra voter with a pod       y  one that is well, in a pod that is not Ready
//	p  one that is not well, and ran before the log of the others began
//	q  one that is not well, and whose volume is older than the log of the others
func cluster(members string, change ...func(*Facts)) Facts {
	f := Facts{At: noon, Reporter: "etcd-druid", HealsNothing: true, Sidecar: true, ListKnown: true, Store: true, Backups: policy.True, Clusters: 1, Formed: true}
	for _, letter := range members {
		f.Members = append(f.Members, member(letter, len(f.Members)))
		m := &f.Members[len(f.Members)-1]
		if m.Asked {
			f.Desired++
		}
		if m.Listed == Voter {
			f.Voters++
		}
		if m.Pod == PodReady {
			f.ReadyPods++
		}
	}
	f.Replicas = f.Desired
	f.Ready, f.AllMembersReady, f.BackupReady = is(policy.True), is(policy.True), is(policy.True)
	for _, c := range change {
		c(&f)
	}
	return f
}

func is(s policy.Status) policy.Condition { return policy.Condition{Status: s} }

func member(letter rune, at int) Member {
	m := Member{
		Name: "main-" + string(rune('0'+at)), Asked: true, First: at == 0, Pod: PodReady, Answer: Follows, Listed: Voter,
		Lease: LeaseFresh, Status: StatusReady, Data: DataValid, MayRemove: true, Restarts: true, Liveness: true,
	}
	switch letter {
	case 'x', 'w', 'p', 'q':
		m.Predates, m.OlderVolume = letter == 'p', letter == 'q'
		m.Pod, m.Answer, m.Lease, m.Status, m.Since = PodUnready, Silent, LeaseExpired, StatusNotReady, noon.Add(-time.Hour)
		m.OutOfContact = true
		if letter == 'w' {
			m.Since = noon.Add(-2 * time.Minute)
		}
	case 'u':
		m.Pod, m.Answer, m.Lease, m.Status = PodUnseen, NotAsked, NoLease, StatusNone
	case 'h':
		m.Answer, m.Listed, m.Lease, m.Status = Unreachable, ListUnread, NoLease, StatusNone
	case 'l':
		m.Listed, m.CaughtUp = Learner, true
	case 'o':
		m.Listed, m.Answer, m.Pod, m.Lease, m.Status = NotListed, Silent, PodUnready, NoLease, StatusNone
	case 'e':
		m.Asked, m.Pod, m.Answer, m.Lease, m.Status, m.Data = false, PodMissing, NotAsked, NoLease, StatusNone, DataUnread
	case 'L':
		m.Asked, m.Pod, m.Answer, m.Listed, m.Lease, m.Status, m.Data = false, PodMissing, NotAsked, NotListed, LeaseExpired, StatusNone, DataUnread
	case 's':
		m.Asked = false
	case 'y':
		m.Pod = PodUnready
	}
	return m
}

// conditions sets Ready, AllMembersReady and BackupReady.
func conditions(ready, all, backup policy.Status) func(*Facts) {
	return func(f *Facts) { f.Ready, f.AllMembersReady, f.BackupReady = is(ready), is(all), is(backup) }
}

var minority = conditions(policy.True, policy.False, policy.True)

// withoutOperator makes the cluster one without an operator and without sidecars.
func withoutOperator(f *Facts) {
	f.Reporter, f.HealsNothing, f.Sidecar = "", false, false
}

// plain makes the cluster one without an operator: no leases, statuses and conditions.
func plain(f *Facts) {
	withoutOperator(f)
	f.Store, f.Backups = false, policy.Unknown
	conditions(policy.Absent, policy.Absent, policy.Absent)(f)
	for i := range f.Members {
		f.Members[i].Lease, f.Members[i].Status = NoLease, StatusNone
	}
}

// each changes the members that are not well.
func each(change func(*Member)) func(*Facts) {
	return func(f *Facts) {
		for i := range f.Members {
			if c := conditionOf(f.Members[i]); c == notReady || c == silent {
				change(&f.Members[i])
			}
		}
	}
}

func lose(m *Member) { m.Data = DataDamaged }

func at(i int, change func(*Member)) func(*Facts) {
	return func(f *Facts) { change(&f.Members[i]) }
}

// recoveryRows are the rows of the page. ids are the scenarios, the most urgent first, and do is the
// action of the first one.
var recoveryRows = []struct {
	row    string
	facts  Facts
	ids    string
	do     Do
	member string
	lost   string // the members that the command declares to be lost
}{
	{row: "S-1", facts: cluster("vvv"), ids: "S-1", do: Nothing},
	{row: "S-1 one member", facts: cluster("v"), ids: "S-1", do: Nothing},
	{row: "S-1 plain, no backups known", facts: cluster("vvv", plain), ids: "S-1", do: Nothing},
	{row: "S-2 the lease is fresh, the status is not", facts: cluster("vvv", at(1, func(m *Member) { m.Status = StatusUnknown })), ids: "S-2", do: Wait},
	{row: "S-2 the lease expired, the status is Ready", facts: cluster("vvv", at(1, func(m *Member) { m.Lease = LeaseExpired })), ids: "S-2", do: Wait},
	{row: "S-3", facts: cluster("vvv", conditions(policy.True, policy.False, policy.True)), ids: "S-3", do: Wait},
	{row: "S-4", facts: cluster("vvw"), ids: "X-7 S-4", do: Wait},
	{row: "S-4 none of one is ready", facts: cluster("x"), ids: "S-10 S-6 S-4", do: InspectPod},
	{row: "S-5 one of three not ready", facts: cluster("vvw", conditions(policy.False, policy.False, policy.True)), ids: "X-7 S-5", do: Wait},
	{row: "S-5 all ready", facts: cluster("vvv", conditions(policy.False, policy.True, policy.True)), ids: "S-5", do: Wait},
	{row: "S-6", facts: cluster("vxx", conditions(policy.True, policy.False, policy.True)), ids: "S-10 S-6", do: InspectPod, member: "main-1"},
	{row: "S-6 half of four is no quorum", facts: cluster("vvxx", conditions(policy.True, policy.False, policy.True)), ids: "S-10 S-6", do: InspectPod, member: "main-2"},
	{row: "S-7", facts: cluster("vvw", minority, at(2, func(m *Member) { m.Pod, m.Status, m.StatusSince = PodReady, StatusUnknown, noon.Add(-2*time.Minute) })), ids: "X-7 S-7", do: Wait},
	{row: "S-7 within a minute: no row", facts: cluster("vvw", minority, at(2, func(m *Member) { m.Pod, m.Status, m.StatusSince = PodReady, StatusUnknown, noon.Add(-30*time.Second) })), ids: "X-7", do: Wait},
	{row: "S-8", facts: cluster("vvw", minority, at(2, func(m *Member) { m.Status, m.Lease = StatusReady, LeaseFresh })), ids: "X-7 S-8", do: Wait},
	{row: "S-9 runs, with its data", facts: cluster("vvx", minority), ids: "S-9", do: RestartPod, member: "main-2"},
	{row: "S-9 backups fail, too", facts: cluster("vvx", conditions(policy.True, policy.False, policy.False)), ids: "S-9 X-12", do: RestartPod, member: "main-2"},
	{row: "S-9 two of five", facts: cluster("vvvxx", minority), ids: "S-9", do: RestartPod, member: "main-3"},
	{row: "S-9 no node", facts: cluster("vvx", minority, each(func(m *Member) { m.Pod = PodPending })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 crashes, with its data", facts: cluster("vvx", minority, each(func(m *Member) { m.Pod = PodWaiting })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 runs, and another container of its pod doesn't stay up", facts: cluster("vvx", minority, each(func(m *Member) { m.SidecarWaits = true })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "X-7 another container of its pod doesn't stay up", facts: cluster("vvw", minority, at(2, func(m *Member) { m.SidecarWaits = true })), ids: "X-7", do: Wait},
	{row: "S-9 crashes, its data lost", facts: cluster("vvx", minority, each(func(m *Member) { m.Pod, m.Data = PodWaiting, DataDamaged })), ids: "S-9", do: Replace, member: "main-2"},
	{row: "S-9 its data lost, and it may not be removed", facts: cluster("vvx", minority, each(func(m *Member) { m.Pod, m.Data, m.MayRemove = PodWaiting, DataDamaged, false })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 its data is in the pod", facts: cluster("vvx", minority, each(func(m *Member) { m.Data = DataInPod })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 its volume could not be read", facts: cluster("vvx", minority, each(func(m *Member) { m.Data = DataUnread })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 its claim is being deleted", facts: cluster("vvx", minority, data(DataLeaving)), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 restart refuses its pod", facts: cluster("vvx", minority, each(func(m *Member) { m.Restarts = false })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 the leader may receive its messages", facts: cluster("vvx", minority, each(func(m *Member) { m.OutOfContact = false })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 it could not be asked", facts: cluster("vvx", minority, each(func(m *Member) { m.Answer = NotAsked })), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 the list is unknown", facts: cluster("vvx", minority, func(f *Facts) { f.ListKnown = false }), ids: "S-9", do: InspectPod, member: "main-2"},
	{row: "S-9 traffic is cut", facts: cluster("vvx", minority, func(f *Facts) { f.TrafficCut = true }), ids: "S-9 X-14", do: RestoreTraffic},
	{row: "S-9 frozen, no object shows since when", facts: cluster("vvx", plain, each(func(m *Member) { m.Pod, m.Since = PodReady, time.Time{} })), ids: "S-9", do: RestartPod, member: "main-2"},
	{row: "S-10", facts: cluster("vxx", conditions(policy.False, policy.False, policy.True)), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "S-10 backups fail, too", facts: cluster("vxx", conditions(policy.False, policy.False, policy.False)), ids: "S-10 X-12", do: InspectPod, member: "main-1"},
	{row: "S-10 two lost their data, one answers", facts: cluster("vxx", conditions(policy.False, policy.False, policy.True), each(func(m *Member) { m.Data = DataNone }), at(0, func(m *Member) { m.Data, m.Answer = DataValid, NoLeader })), ids: "S-10", do: Recover, lost: "main-1 main-2"},
	{row: "S-10 two lost their data, and one has it in its pod", facts: cluster("vxx", conditions(policy.False, policy.False, policy.True), each(func(m *Member) { m.Data = DataNone }), at(0, func(m *Member) { m.Answer, m.Data = NoLeader, DataInPod })), ids: "S-10", do: SaveSnapshot},
	{row: "S-10 claims are being deleted, and their members answer", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), each(func(m *Member) { m.Data, m.Answer = DataLeaving, NoLeader })), ids: "S-10", do: SaveSnapshot},
	{row: "S-10 claims are being deleted, and no member answers", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataLeaving)), ids: "S-10", do: InspectPod, member: "main-0"},
	{row: "S-10 all lost their data", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), each(func(m *Member) { m.Data = DataNone })), ids: "S-10", do: ListSnapshots},
	{row: "S-10 all lost their data, no backups", facts: cluster("xxx", plain, each(func(m *Member) { m.Data = DataNone })), ids: "S-10", do: Check},
	{row: "S-10 voters were scaled away", facts: cluster("vx", plain, func(f *Facts) { f.ListKnown, f.Voters, f.ScaledIn = false, 4, true }), ids: "S-10", do: ScaleBack},
	{row: "S-10 two lost their data, and the third crashes", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(2, func(m *Member) { m.Data, m.Pod = DataValid, PodWaiting })), ids: "S-10", do: InspectPod, member: "main-2"},
	{row: "S-10 two lost their data, and the third crashes, no backups", facts: cluster("xxx", plain, data(DataNone), at(2, func(m *Member) { m.Data, m.Pod = DataValid, PodWaiting })), ids: "S-10", do: InspectPod, member: "main-2"},
	{row: "S-10 two logs show lost data, and the third has no node", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataDamaged), at(0, func(m *Member) { m.Data, m.Pod = DataValid, PodPending })), ids: "S-10", do: InspectPod, member: "main-0"},
	{row: "S-10 two lost their data, and the third's volume could not be read", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(1, func(m *Member) { m.Data = DataUnread })), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "S-10 two lost their data, and the third's claim is being deleted", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(1, func(m *Member) { m.Data = DataLeaving })), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "S-10 two lost their data, and the third could not be asked", facts: cluster("vxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.Answer = NotAsked })), ids: "S-10", do: InspectPod, member: "main-0"},
	{row: "S-10 three of five lost their data, one answers, and one doesn't", facts: cluster("xxxxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.Data, m.Answer = DataValid, NoLeader }), at(1, func(m *Member) { m.Data = DataValid })), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "S-10 three of five lost their data, one answers from its pod, and one doesn't", facts: cluster("xxxxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.Data, m.Answer = DataInPod, NoLeader }), at(1, func(m *Member) { m.Data = DataValid })), ids: "S-10", do: SaveSnapshot},
	{row: "S-10 all claims are gone, and one still answers", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.Answer = NoLeader })), ids: "S-10", do: Recover, lost: "main-1 main-2"},
	{row: "S-10 one claim is gone, one log shows lost data, and one answers", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.Data, m.Answer = DataValid, NoLeader }), at(2, lose)), ids: "S-10", do: Recover, lost: "main-1 POD"},
	{row: "S-10 three claims of five are gone, one log shows lost data, and one answers", facts: cluster("xxxxx", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.Data, m.Answer = DataValid, NoLeader }), at(4, lose)), ids: "S-10", do: Recover, lost: "main-1 main-2 main-3"},
	{row: "S-10 three lost their data, and no pod is known of two", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), func(f *Facts) { f.ListKnown, f.Voters = false, 5 }), ids: "S-10", do: Check},
	{row: "S-10 voters were scaled away, their claims are gone, and one doesn't answer", facts: cluster("vx", plain, func(f *Facts) { f.ListKnown, f.Voters, f.AwayGone = false, 4, 2 }), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "S-10 voters were scaled away, and their claims are gone", facts: cluster("v", plain, func(f *Facts) { f.ListKnown, f.Voters, f.AwayGone = false, 3, 2 }), ids: "S-10", do: Recover},
	{row: "S-10 the sidecar of the only member restores the store", facts: cluster("x", conditions(policy.False, policy.False, policy.True), data(DataNone)), ids: "S-10", do: Wait, member: "main-0"},
	{row: "S-10 the sidecar of the only member doesn't start", facts: cluster("x", conditions(policy.False, policy.False, policy.True), data(DataNone), at(0, func(m *Member) { m.SidecarWaits = true })), ids: "S-10", do: ListSnapshots},
	{row: "S-9 one can't be replaced, and another can be restarted", facts: cluster("vvvxx", minority, at(3, lose), at(3, func(m *Member) { m.MayRemove = false })), ids: "S-9", do: RestartPod, member: "main-4"},
	{row: "S-11", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Replicas = 5, 5 }), ids: "S-11", do: Wait},
	{row: "S-11 not reconciled", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Unreconciled = 5, true }), ids: "S-11", do: Reconcile},
	{row: "S-11 suspended", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Unreconciled, f.Suspended = 5, true, true }), ids: "S-11 X-21", do: EndSuspension},
	{row: "S-11 suspended by a cut", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Unreconciled, f.Suspended, f.SuspendedByCut = 5, true, true, true }), ids: "S-11", do: RestoreTraffic},
	{row: "S-11 asked for already", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Unreconciled, f.Requested = 5, true, true }), ids: "S-11", do: Wait},
	{row: "S-11 asked for already, and etcd-druid is down", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Unreconciled, f.Requested, f.Ready.Age = 5, true, true, time.Hour }), ids: "S-11 X-15", do: InspectOperator},
	{row: "S-11 plain, nothing under way", facts: cluster("vvv", plain, func(f *Facts) { f.Desired = 5 }), ids: "S-11", do: Check},
	{row: "S-12", facts: cluster("vvvss"), ids: "S-12", do: Wait},
	{row: "S-13 a lease", facts: cluster("vvvL"), ids: "S-13", do: DeleteLease, member: "main-3"},
	{row: "S-13 a lease, the list unknown", facts: cluster("vvvL", func(f *Facts) {
		f.ListKnown = false
		for i := range f.Members {
			f.Members[i].Listed = ListUnread
		}
	}), ids: "S-13", do: ListMembers, member: "main-3"},
	{row: "S-13 a voter that is dead", facts: cluster("vvve", minority, at(3, func(m *Member) { m.Removable = true })), ids: "S-13 X-11", do: RemoveMember, member: "main-3"},
	{row: "S-13 a voter that may be alive", facts: cluster("vvve", minority), ids: "S-13 X-11", do: ListMembers, member: "main-3"},
	{row: "S-13 a voter that answers", facts: cluster("vvve", at(3, func(m *Member) { m.Removable, m.Answer = true, Follows })), ids: "S-13 S-12", do: ListMembers, member: "main-3"},
	{row: "S-13 a voter with its data", facts: cluster("vvve", plain, at(3, func(m *Member) { m.Returns = true })), ids: "S-13 X-11", do: ScaleBack, member: "main-3"},

	{row: "X-1", facts: cluster("", func(f *Facts) { f.Desired = 0 }), ids: "X-1", do: Nothing},
	{row: "X-1 pods are left", facts: cluster("vvv", func(f *Facts) { f.Desired = 0 }), ids: "X-1", do: Wait},
	{row: "X-6 it has stopped all members", facts: cluster("", plain, func(f *Facts) { f.Desired, f.Operation, f.Interrupted, f.CutsTraffic = 0, "restore", true, true }), ids: "X-6", do: Resume},
	{row: "X-10 it has stopped all members", facts: cluster("", plain, func(f *Facts) { f.Desired, f.Operation, f.CutsTraffic = 0, "restore", true }), ids: "X-10", do: Wait},
	{row: "X-6 it has stopped all members of an Etcd", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), data(DataNone), restoring, func(f *Facts) { f.Interrupted = true }), ids: "X-6", do: Resume},
	{row: "X-10 it has stopped all members of an Etcd", facts: cluster("xxx", conditions(policy.False, policy.False, policy.True), restoring), ids: "X-10", do: Wait},
	{row: "X-21", facts: cluster("vvv", func(f *Facts) { f.Unreconciled, f.Suspended = true, true }), ids: "X-21", do: EndSuspension},
	{row: "X-21 by a cut: no row", facts: cluster("vvv", func(f *Facts) { f.Unreconciled, f.Suspended, f.SuspendedByCut, f.TrafficCut = true, true, true, true }), ids: "X-14", do: RestoreTraffic},
	{row: "X-21 plain: no row", facts: cluster("vvv", plain, func(f *Facts) { f.Unreconciled, f.Suspended = true, true }), ids: "S-1", do: Nothing},
	{row: "X-1 not reconciled", facts: cluster("vvv", func(f *Facts) { f.Desired, f.Unreconciled = 0, true }), ids: "X-1", do: Reconcile},
	{row: "X-2", facts: cluster("vvv", func(f *Facts) { f.Clusters = 2 }), ids: "X-2", do: CompareClusters},
	{row: "X-2 a member is down", facts: cluster("vvx", minority, func(f *Facts) { f.Clusters = 2 }), ids: "X-2", do: CompareClusters},
	{row: "X-2 the quorum is lost, backups fail, traffic is cut", facts: cluster("vxx", conditions(policy.True, policy.False, policy.False), func(f *Facts) { f.Clusters, f.TrafficCut = 2, true }), ids: "X-2 X-12 X-14 S-6", do: CompareClusters},
	{row: "X-3", facts: cluster("vww", conditions(policy.False, policy.False, policy.True)), ids: "X-3", do: Wait},
	{row: "X-3 a pod has no node", facts: cluster("vww", conditions(policy.False, policy.False, policy.True), at(2, func(m *Member) { m.Pod = PodPending })), ids: "X-3", do: InspectPod, member: "main-2"},
	{row: "X-3 one of those that wait lost its data", facts: cluster("vwwww", conditions(policy.False, policy.False, policy.True), at(1, lose)), ids: "X-3", do: Wait},
	{row: "X-3 one that lost its data has no node", facts: cluster("vwwww", conditions(policy.False, policy.False, policy.True), at(1, lose), at(1, func(m *Member) { m.Pod = PodPending })), ids: "X-3", do: Wait},
	{row: "X-3 the data of those that wait is lost: no row", facts: cluster("vww", conditions(policy.False, policy.False, policy.True), at(1, lose), at(2, lose)), ids: "S-10", do: Recover, lost: "POD"},
	{row: "X-3 too few have their data: no row", facts: cluster("vvwww", conditions(policy.False, policy.False, policy.True), at(2, lose), at(3, lose), at(4, func(m *Member) { m.Data = DataNone })), ids: "S-10", do: Recover, lost: "main-4 POD"},
	{row: "X-3 an only member without data", facts: cluster("w", conditions(policy.False, policy.False, policy.True), at(0, lose)), ids: "X-3", do: Wait},
	{row: "X-3 an only member without data and without etcd-druid: no row", facts: cluster("w", plain, at(0, lose)), ids: "S-10", do: Check},
	{row: "X-4 the quorum depends on it", facts: cluster("vuu", minority), ids: "X-4", do: Check},
	{row: "X-4 no member answers, and all pods are Ready", facts: cluster("hhh", func(f *Facts) { f.ListKnown, f.Voters = false, 0 }), ids: "X-4", do: Check},
	{row: "X-4 the only member doesn't answer, and its pod is Ready", facts: cluster("h", func(f *Facts) { f.ListKnown, f.Voters = false, 0 }), ids: "X-4", do: Check},
	{row: "S-1 no member answers, and all renew their leases", facts: cluster("hhh", func(f *Facts) {
		f.ListKnown, f.Voters = false, 0
		for i := range f.Members {
			f.Members[i].Lease = LeaseFresh
		}
	}), ids: "S-1", do: Nothing},
	{row: "X-4 the quorum holds", facts: cluster("vvu"), ids: "X-4", do: Check},
	{row: "X-4 a voter that no object has", facts: cluster("vvv", func(f *Facts) { f.ListKnown, f.Voters = false, 4 }), ids: "X-4 S-4", do: Check},
	{row: "X-5", facts: cluster("xxx", conditions(policy.Absent, policy.Absent, policy.Absent), func(f *Facts) { f.Formed, f.Created = false, noon.Add(-time.Minute) }), ids: "X-5", do: Wait},
	{row: "X-5 its time is over: no row", facts: cluster("xxx", conditions(policy.Absent, policy.Absent, policy.Absent), func(f *Facts) { f.Formed, f.Created = false, noon.Add(-NotReadyGrace) }), ids: "S-10", do: InspectPod, member: "main-0"},
	{row: "X-6", facts: cluster("vvv", func(f *Facts) { f.Operation, f.Interrupted = "scale from 3 to 5", true }), ids: "X-6", do: Resume},
	{row: "X-6 it has stopped no member, and the quorum holds", facts: cluster("vvv", unstopped), ids: "X-6", do: Undo},
	{row: "X-6 it has stopped no member, and a minority is down", facts: cluster("vvw", minority, unstopped), ids: "X-6 X-7", do: Undo},
	{row: "X-7", facts: cluster("vvw", minority), ids: "X-7", do: Wait},
	{row: "X-7 a pod has no node", facts: cluster("vvw", minority, at(2, func(m *Member) { m.Pod = PodPending })), ids: "X-7", do: InspectPod, member: "main-2"},
	{row: "X-8", facts: cluster("vvo", plain), ids: "X-8 S-11", do: InspectPod, member: "main-2"},
	{row: "X-8 its log shows that it was removed", facts: cluster("vvo", plain, at(2, func(m *Member) { m.Data = DataDamaged })), ids: "X-8 S-11", do: Replace, member: "main-2"},
	{row: "X-8 it answers", facts: cluster("vvo", plain, at(2, func(m *Member) { m.Answer = NoLeader })), ids: "X-8 S-11", do: Replace, member: "main-2"},
	{row: "X-8 it answers, and is ahead of the leader", facts: cluster("vvo", plain, at(2, func(m *Member) { m.Answer, m.Ahead = NoLeader, true })), ids: "X-8 S-11", do: InspectPod, member: "main-2"},
	{row: "X-8 it answers, is ahead, and traffic is cut", facts: cluster("vvo", plain, func(f *Facts) { f.TrafficCut = true }, at(2, func(m *Member) { m.Answer, m.Ahead = NoLeader, true })), ids: "X-8 X-14 S-11", do: InspectPod, member: "main-2"},
	{row: "X-8 an operator adds members", facts: cluster("vvo", func(f *Facts) { f.Managed = true }), ids: "X-8 S-11", do: InspectPod, member: "main-2"},
	{row: "X-9", facts: cluster("vvvl", plain), ids: "X-9 S-11", do: Promote, member: "main-3"},
	{row: "X-9 behind", facts: cluster("vvvl", plain, at(3, func(m *Member) { m.CaughtUp = false })), ids: "X-9 S-11", do: Wait, member: "main-3"},
	{row: "X-10", facts: cluster("vvv", func(f *Facts) { f.Operation = "rollout" }), ids: "X-10", do: Wait},
	{row: "X-8 a held rollout waits for it", facts: cluster("vvo", plain, func(f *Facts) { f.Operation, f.HeldRollout = "rollout", true }, at(2, func(m *Member) { m.Answer = NoLeader })), ids: "X-8 X-10 S-11", do: Replace, member: "main-2"},
	{row: "X-11", facts: cluster("vvx", minority, func(f *Facts) { f.Desired = 5 }), ids: "S-9 X-11", do: RestartPod, member: "main-2"},
	{row: "X-12", facts: cluster("vvv", conditions(policy.True, policy.True, policy.False)), ids: "X-12", do: TakeBackup},
	{row: "X-13", facts: cluster("vvy", plain), ids: "X-13", do: InspectPod, member: "main-2"},
	{row: "X-14", facts: cluster("vvv", func(f *Facts) { f.TrafficCut = true }), ids: "X-14", do: RestoreTraffic},
	{row: "X-15", facts: cluster("vvv", func(f *Facts) { f.Ready.Age = time.Hour }), ids: "X-15", do: InspectOperator},
	{row: "X-16", facts: cluster("vvv", conditions(policy.True, policy.True, policy.Unknown)), ids: "X-16", do: Wait},
	{row: "X-18", facts: cluster("vvp", minority), ids: "X-18", do: InspectPod, member: "main-2"},
	{row: "X-18 within its grace", facts: cluster("vvp", minority, each(func(m *Member) { m.Since = noon.Add(-time.Minute) })), ids: "X-18", do: InspectPod, member: "main-2"},
	{row: "X-18 its volume claim is gone", facts: cluster("vvp", minority, each(lose)), ids: "X-18", do: InspectPod, member: "main-2"},
	{row: "X-18 its volume is older", facts: cluster("vvq", minority), ids: "X-18", do: InspectPod, member: "main-2"},
	{row: "X-18 its volume is older, and the pod is missing", facts: cluster("vvq", minority, each(func(m *Member) { m.Pod = PodMissing })), ids: "X-18", do: InspectPod, member: "main-2"},
	{row: "X-18 its volume is older, and it crashes", facts: cluster("vvq", minority, each(func(m *Member) { m.Pod = PodWaiting })), ids: "X-18", do: InspectPod, member: "main-2"},
	{row: "X-18 two of five", facts: cluster("vvvpx", minority), ids: "X-18", do: InspectPod, member: "main-3"},
	{row: "X-18 no quorum: no row", facts: cluster("vxp", conditions(policy.False, policy.False, policy.True)), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "X-19", facts: cluster("vvv", alarm), ids: "X-19", do: CureAlarm},
	{row: "X-19 plain, one member", facts: cluster("v", plain, alarm), ids: "X-19", do: CureAlarm},
	{row: "X-19 a member is down", facts: cluster("vvx", minority, alarm), ids: "S-9 X-19", do: RestartPod, member: "main-2"},
	{row: "X-19 the quorum is lost", facts: cluster("vxx", conditions(policy.False, policy.False, policy.True), alarm), ids: "S-10 X-19", do: InspectPod, member: "main-1"},
	{row: "X-19 backups fail", facts: cluster("vvv", conditions(policy.True, policy.True, policy.False), alarm), ids: "X-19 X-12", do: CureAlarm},
	{row: "X-19 the only data from before is elsewhere", facts: cluster("vvp", minority, alarm), ids: "X-18 X-19", do: InspectPod, member: "main-2"},
	{row: "X-20", facts: cluster("vvv", wrongURL), ids: "X-20", do: CorrectPeerURL, member: "main-2"},
	{row: "X-20 plain", facts: cluster("vvv", plain, wrongURL), ids: "X-20", do: CorrectPeerURL, member: "main-2"},
	{row: "X-20 a member is down", facts: cluster("vxv", minority, wrongURL), ids: "S-9 X-20", do: RestartPod, member: "main-1"},
	{row: "X-20 the quorum is lost: no row", facts: cluster("vxx", conditions(policy.False, policy.False, policy.True), wrongURL), ids: "S-10", do: InspectPod, member: "main-1"},
	{row: "X-20 a change is under way: no row", facts: cluster("vvv", wrongURL, func(f *Facts) { f.Operation = "rollout" }), ids: "X-10", do: Wait},
	{row: "X-20 the only data from before is elsewhere", facts: cluster("vvp", minority, wrongURL), ids: "X-18 X-20", do: InspectPod, member: "main-2"},
	{row: "X-17", facts: cluster("vvv", func(f *Facts) { f.Replicas = 5 }), ids: "X-17", do: Wait},
	{row: "X-17 plain, a pod more", facts: cluster("vvv", plain, func(f *Facts) { f.ReadyPods = 4 }), ids: "X-17", do: Check},
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, r := range recoveryRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			id, _, _ := strings.Cut(r.row, " ")
			d := Diagnose(r.facts)
			got := strings.Join(IDs(r.facts), " ")
			if got != r.ids || slices.Contains(strings.Fields(r.ids), id) == strings.HasSuffix(r.row, ": no row") {
				t.Errorf("the scenarios are %s, want %s", got, r.ids)
			}
			if slices.Contains(strings.Fields(r.ids), "X-18") && slices.ContainsFunc(d.Scenarios, func(s Scenario) bool { return s.Action.Do == CorrectPeerURL }) {
				t.Error("the members could connect to each other, which costs one of the two logs")
			}
			if a := d.Scenarios[0].Action; a.Do != r.do || r.member != "" && a.Member != r.member {
				t.Errorf("the action is %s %s, want %s %s: %s", a.Do, a.Member, r.do, r.member, a.Why)
			} else if got := strings.Join(a.Lost, " "); got != r.lost {
				t.Errorf("the command names %q as lost, want %q: %s", got, r.lost, a.Why)
			}
		})
	}
}

// restartRows have what the last member will do.
var restartRows = []struct {
	row   string
	facts Facts
	want  string
	joins bool
}{
	{"I-1", cluster("x", young), "new cluster", true},
	{"I-2", cluster("xxx", young), "new cluster", true},
	{"I-3", cluster("vvx"), "with its data", true},
	{"I-4", cluster("vvx", data(DataDamaged)), "its sidecar removes it", true},
	{"I-4 plain", cluster("vvx", plain, data(DataDamaged)), "etcd ends with an error", false},
	{"I-5", cluster("vvx", data(DataNone)), "its sidecar removes it", true},
	{"I-5 plain", cluster("vvx", plain, data(DataNone)), "Only a new member can replace it", false},
	{"I-6", cluster("vxx"), "waits for a quorum", true},
	{"I-6 one member", cluster("x"), "waits for a quorum", true},
	{"I-7 one member", cluster("x", data(DataNone)), "restores the last full snapshot", true},
	{"I-7 one member, no store", cluster("x", data(DataNone), func(f *Facts) { f.Store = false }), "empty database", true},
	{"I-7 plain", cluster("x", plain, data(DataNone)), "empty database", false},
	{"I-8", cluster("vxx", data(DataNone)), "until the others have one", false},
	{"I-8 plain", cluster("vxx", plain, data(DataNone)), "without a quorum", false},
	{"I-9", cluster("vvo"), "added first", false},
	{"I-9 plain", cluster("vvo", plain), "etcd refuses it", false},
	{"I-11", cluster("vvp"), "one of the two logs", false},
	{"I-6 it ran before the others, and there is no quorum", cluster("vxp"), "waits for a quorum", true},
	{"I-10 the volume", cluster("vvx", data(DataUnread)), "volume", false},
	{"I-10 several clusters", cluster("vvx", func(f *Facts) { f.Clusters = 2 }), "different clusters", false},
	{"I-10 its claim is being deleted", cluster("vvx", data(DataLeaving)), "a new pod has none", false},
	{"I-10 the quorum", cluster("vux"), "quorum", false},
}

func young(f *Facts) { f.Formed, f.Created = false, noon.Add(-time.Minute) }

func data(d Data) func(*Facts) { return each(func(m *Member) { m.Data = d }) }

func TestRestarts(t *testing.T) {
	t.Parallel()
	for _, r := range restartRows {
		id, _, _ := strings.Cut(r.row, " ")
		all := Diagnose(r.facts).Restarts
		if got := all[len(all)-1]; got.ID != id || !strings.Contains(got.What, r.want) || got.Joins != r.joins {
			t.Errorf("%s: got %s %q, joins %t; want %q", r.row, got.ID, got.What, got.Joins, r.want)
		}
	}
	all := Diagnose(cluster("xxx", data(DataNone))).Restarts
	if all[0].ID != "I-7" || all[1].ID != "I-8" {
		t.Errorf("of three without data, the first has %s and the second %s", all[0].ID, all[1].ID)
	}
}

// TestReplaced: an operation on a StatefulSet that was created again is not to be continued.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for _, replaced := range []bool{false, true} {
		f := cluster("vvv", func(f *Facts) { f.Operation, f.Interrupted, f.Replaced = "restart", true, replaced })
		why := Diagnose(f).Scenarios[0].Action.Why
		if strings.Contains(why, "Continue it") == replaced || strings.Contains(why, "sweep") != replaced {
			t.Errorf("created again %t: %s", replaced, why)
		}
		f.SetsAside = true
		if why := Diagnose(f).Scenarios[0].Action.Why; strings.Contains(why, "may run without their data") != replaced {
			t.Errorf("created again %t, with data set aside: %s", replaced, why)
		}
		f.TrafficCut, f.CutsTraffic = true, true
		for _, s := range Diagnose(f).Scenarios {
			if strings.Contains(s.Action.Why, "restores client traffic at its end") && replaced {
				t.Errorf("%s: it can't come to its end: %s", s.ID, s.Action.Why)
			}
		}
	}
}

// TestEventsOfBarePods: no StatefulSet creates a pod that has none.
func TestEventsOfBarePods(t *testing.T) {
	t.Parallel()
	for _, pod := range []Pod{PodMissing, PodStopping} {
		for _, bare := range []bool{false, true} {
			f := cluster("vvx", plain, each(func(m *Member) { m.Pod = pod }), func(f *Facts) { f.Bare = bare })
			promised := slices.ContainsFunc(Diagnose(f).Scenarios[0].Events, func(e Event) bool { return e.Who == statefulSet })
			if promised == bare {
				t.Errorf("%s, bare pods: %t, and a StatefulSet creates them again: %t", pod, bare, promised)
			}
		}
	}
}

// TestRestartNamesNoRefusedCommand: kubectl etcd member replace refuses the members of other programs and
// pods without a StatefulSet.
func TestRestartNamesNoRefusedCommand(t *testing.T) {
	t.Parallel()
	for _, managed := range []bool{false, true} {
		for _, bare := range []bool{false, true} {
			s := &state{Facts: cluster("vvx", plain, func(f *Facts) { f.Managed, f.Bare = managed, bare })}
			got := s.emptyMember(Restart{}, "I-4", DamagedData).What
			if strings.Contains(got, "kubectl etcd member replace") || strings.Contains(got, "POD") {
				t.Errorf("managed %t, bare %t: %s", managed, bare, got)
			}
		}
	}
}

// TestBeganAgainChangesNothing: while one member may have the only data, no row restarts, replaces, adds or removes one.
func TestBeganAgainChangesNothing(t *testing.T) {
	t.Parallel()
	removable := func(f *Facts) {
		for i := range f.Members {
			f.Members[i].Removable = f.Members[i].Pod == PodMissing
		}
	}
	for _, members := range []string{"vvv?e", "vv?o", "vv?l", "vv?L", "vvv?x"} {
		for _, letter := range []string{"x", "p"} {
			f := cluster(strings.Replace(members, "?", letter, 1), plain, removable)
			if strings.HasSuffix(members, "L") {
				f.Members[3].Lease = LeaseExpired
			}
			changes := slices.ContainsFunc(Diagnose(f).Scenarios, func(s Scenario) bool {
				return slices.Contains([]Do{RestartPod, Replace, RemoveMember, DeleteLease, Promote, ScaleBack}, s.Action.Do)
			})
			if changes == (letter == "p") {
				t.Errorf("%s with %s: an action changes something: %t", members, letter, changes)
			}
		}
	}
}

// TestRestoreTraffic: the operation that cut client traffic restores it. Nothing else may before its end.
func TestRestoreTraffic(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		operation         string
		interrupted, cuts bool
		want              Do
	}{
		{want: RestoreTraffic},
		{operation: "scale from 3 to 5", interrupted: true, want: RestoreTraffic},
		{operation: "snapshot restore", cuts: true, want: Wait},
		{operation: "snapshot restore", interrupted: true, cuts: true, want: Resume},
	} {
		f := cluster("vvv", func(f *Facts) {
			f.TrafficCut, f.Operation, f.Interrupted, f.CutsTraffic = true, row.operation, row.interrupted, row.cuts
		})
		got := Diagnose(f).Scenarios
		i := slices.IndexFunc(got, func(s Scenario) bool { return s.ID == "X-14" })
		if i < 0 || got[i].Action.Do != row.want {
			t.Errorf("%+v: %+v", row, got)
		}
	}
}

// TestAfterSnapshot: what is to be done with the saved data of survivors is what the commands that restore accept.
func TestAfterSnapshot(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		with func(*Facts)
		want string
	}{
		{"no command restores it", func(f *Facts) { f.NotRestorable = "it has no backup store; configure one first" }, "No command restores it into the present members: it has no backup store; configure one first."},
		{"its volume claim is being deleted", at(0, func(m *Member) { m.Data = DataLeaving }), "Then kubectl etcd snapshot restore FILE NAME restores it, and shows first how to keep the volumes."},
		{"data in the pods", at(0, func(m *Member) { m.Data = DataInPod }), "Then create another StatefulSet with a volume claim template"},
	} {
		f := cluster("vxx", plain, each(func(m *Member) { m.Data = DataNone }), at(0, func(m *Member) { m.Answer = NoLeader }), row.with)
		a := Diagnose(f).Scenarios[0].Action
		if a.Do != SaveSnapshot || !strings.Contains(a.Why, row.want) {
			t.Errorf("%s: %s: %s", row.name, a.Do, a.Why)
		}
	}
}

// TestLostDataDoesNotComeBack: a member whose data is lost comes back by itself only if a sidecar adds it again.
func TestLostDataDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for _, sidecar := range []bool{false, true} {
		f := cluster("vvw", at(2, func(m *Member) { m.Data, m.Damage = DataNone, "already been bootstrapped" }))
		f.Sidecar = sidecar
		why := Diagnose(f).Scenarios[0].Action.Why
		if back := strings.Contains(why, "It comes back by itself"); back != sidecar {
			t.Errorf("with a sidecar: %t: %q", sidecar, why)
		}
	}
}

// TestNoSinceNoGrace: a title does not claim that a grace period is over where no object shows when it began.
func TestNoSinceNoGrace(t *testing.T) {
	t.Parallel()
	undated := func(f *Facts) { f.Members[2].Pod, f.Members[2].Since = PodReady, time.Time{} }
	for _, row := range []struct {
		members, want string
	}{
		{"vvx", "The quorum holds (2 of 3 voters healthy), and main-2 is not healthy (no object shows since when)."},
		{"vvxvx", "The quorum holds (3 of 5 voters healthy), and main-4 has not been ready for longer than the grace period, and main-2 is not healthy (no object shows since when)."},
	} {
		if got := Diagnose(cluster(row.members, minority, undated)).Scenarios[0].Title; got != row.want {
			t.Errorf("%s: %s", row.members, got)
		}
	}
}

// TestUnderWayContinues: the wait for a change names how to continue and to undo it if its program has stopped.
func TestUnderWayContinues(t *testing.T) {
	t.Parallel()
	f := cluster("vvv", func(f *Facts) { f.Operation, f.Continuing = "scale", []string{"kubectl a", "kubectl a --abort"} })
	got := Diagnose(f).Scenarios[0].Action
	if want := "If the program that makes it has stopped, continue it or undo it: kubectl a; kubectl a --abort"; got.Do != Wait || !strings.HasSuffix(got.Why, want) {
		t.Errorf("%+v, want %s", got, want)
	}
}
