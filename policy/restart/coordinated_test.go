// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// coordinated returns a coordinated restart of members, written as for facts, that cuts client
// traffic, and has marked the workload and cut the traffic unless it is about to begin.
func coordinated(members string, phase Phase, replicas, pods int) Coordinated {
	return Coordinated{
		Facts: facts(members), Phase: phase, Mark: phase, Replicas: replicas, Size: len(members), Pods: pods, Intact: len(members),
		Cuts: true, AllCut: true, AnyCut: true,
	}
}

func fresh(c *Coordinated)      { unmarked(c) }
func marked(c *Coordinated)     { restored(c) }
func halfCut(c *Coordinated)    { c.AllCut = false }
func vanished(c *Coordinated)   { c.AnyCut = false }
func aborted(c *Coordinated)    { c.Abort = true }
func fails(c *Coordinated)      { backupsFail(&c.Facts) }
func scales(c *Coordinated)     { rollout(&c.Facts) }
func larger(c *Coordinated)     { unlisted(&c.Facts) }
func atRisk(c *Coordinated)     { c.Intact-- }
func other(c *Coordinated)      { c.Other = "main-1 has another cluster ID" }
func withoutCut(c *Coordinated) { c.Cuts = false; restored(c) }
func reached(c *Coordinated)    { c.Endpoints = 1 }
func restored(c *Coordinated)   { c.AllCut, c.AnyCut = false, false }
func unmarked(c *Coordinated)   { c.Mark = ""; restored(c) }
func failsUnquorate(c *Coordinated) {
	fresh(c)
	fails(c)
}

func abortedUnmarked(c *Coordinated) {
	c.Abort = true
	unmarked(c)
}

func abortedHalfCut(c *Coordinated) {
	c.Abort = true
	halfCut(c)
}

// forged is a record of a restart that has changed nothing.
func forged(phase Phase, size int) func(c *Coordinated) {
	return func(c *Coordinated) {
		unmarked(c)
		c.Phase, c.Size = phase, size
	}
}

func abortedForged(c *Coordinated) {
	c.Abort = true
	forged(Starting, 5)(c)
}

// behind is a record that has not the phase of the mark.
func behind(c *Coordinated) { c.Phase = Scheduled }

func abortedBehind(c *Coordinated) {
	c.Abort = true
	behind(c)
}

func ahead(c *Coordinated) { c.Phase = Starting }

func abortedOther(c *Coordinated) {
	c.Abort = true
	other(c)
}

// moves sets the members, written as digits, that have other peer URLs than etcd's list.
func moves(which string) func(*Coordinated) {
	return func(c *Coordinated) {
		for _, at := range which {
			c.Members[at-'0'].PeersDiffer = true
		}
	}
}

func both(first, second func(*Coordinated)) func(*Coordinated) {
	return func(c *Coordinated) { first(c); second(c) }
}

func unread(c *Coordinated) { c.PeersUnread = true }

func lags(c *Coordinated) { c.PeersLag = true }

// coordinatedRows are the rows of docs/rules/restart.md about all members at once.
var coordinatedRows = []struct {
	row    string
	given  Coordinated
	change func(*Coordinated)
	act    Act
	reason policy.Reason
}{
	{row: "C-23 stopped by another client", given: coordinated("Lv-", Stopping, 0, 2), change: unmarked, act: Refuse, reason: MarkMissing},
	{row: "C-23 a record of more", given: coordinated("Lvv", Starting, 3, 3), change: forged(Starting, 5), act: Refuse, reason: MarkMissing},
	{row: "C-23 also to abort", given: coordinated("Lvv", Starting, 3, 3), change: abortedForged, act: Refuse, reason: MarkMissing},
	{row: "C-23 scaled before the mark", given: coordinated("Lvv", Scheduled, 2, 3), change: abortedUnmarked, act: Refuse, reason: MarkMissing},
	{row: "C-1 of a part of the Services", given: coordinated("Lvv", Scheduled, 3, 3), change: abortedHalfCut, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-1 after the cut", given: coordinated("Lvv", Scheduled, 3, 3), change: aborted, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-1 before anything", given: coordinated("Lvv", Scheduled, 3, 3), change: abortedUnmarked, act: Finish, reason: RestartAborted},
	{row: "C-1 before the stop", given: coordinated("Lvv", Stopping, 3, 3), change: aborted, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-1 also where the data is not safe", given: coordinated("Lvv", Scheduled, 3, 3), change: func(c *Coordinated) { c.Abort = true; atRisk(c) }, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-2 a learner", given: coordinated("Lvl", Scheduled, 3, 3), change: fresh, act: Refuse, reason: policy.LearnerPresent},
	{row: "C-3 no pod", given: coordinated("Lv-", Scheduled, 3, 2), change: fresh, act: Refuse, reason: MemberPodMissing},
	{row: "C-3 a pod stops", given: coordinated("Lvs", Scheduled, 3, 3), change: fresh, act: Refuse, reason: MemberPodMissing},
	{row: "C-3 a member that runs in no pod", given: coordinated("Lv?", Scheduled, 2, 2), change: fresh, act: Refuse, reason: MemberPodMissing},
	{row: "C-4 another client scales", given: coordinated("Lvv", Scheduled, 5, 3), act: Refuse, reason: policy.OperationUnderWay},
	{row: "C-4 more voters than replicas", given: coordinated("Lvv", Scheduled, 3, 3), change: larger, act: Refuse, reason: policy.OperationUnderWay},
	{row: "C-5 the data of one", given: coordinated("Lvv", Scheduled, 3, 3), change: atRisk, act: Refuse, reason: DataAtRisk},
	{row: "C-5 no quorum, and the data of one", given: coordinated("xxv", Scheduled, 3, 3), change: atRisk, act: Refuse, reason: DataAtRisk},
	{row: "C-6 a scale", given: coordinated("Lvv", Scheduled, 3, 3), change: scales, act: Refuse, reason: policy.OperationUnderWay},
	{row: "C-7 no quorum", given: coordinated("xxv", Scheduled, 3, 3), change: fresh, act: MarkWorkload, reason: DataKept},
	{row: "C-7 half of four", given: coordinated("xxvv", Scheduled, 4, 4), change: fresh, act: MarkWorkload, reason: DataKept},
	{row: "C-7 no quorum, and backups fail", given: coordinated("xxv", Scheduled, 3, 3), change: failsUnquorate, act: MarkWorkload, reason: DataKept},
	{row: "C-8 backups fail", given: coordinated("Lvv", Scheduled, 3, 3), change: failsUnquorate, act: Refuse, reason: policy.BackupFailing},
	{row: "C-9 healthy", given: coordinated("Lvv", Scheduled, 3, 3), change: fresh, act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-9 one is down", given: coordinated("Lvx", Scheduled, 3, 3), change: fresh, act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-9 a single member", given: coordinated("L", Scheduled, 1, 1), change: fresh, act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-9 a record of a stop", given: coordinated("Lvv", Scheduled, 3, 3), change: forged(Stopping, 3), act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-4 a record of none", given: coordinated("Lvv", Scheduled, 3, 3), change: forged(Scheduled, 0), act: Refuse, reason: policy.OperationUnderWay},
	{row: "C-10 one Service of two", given: coordinated("Lvv", Scheduled, 3, 3), change: halfCut, act: CutTraffic, reason: policy.QuorumKept},
	{row: "C-10 marked", given: coordinated("Lvv", Scheduled, 3, 3), change: marked, act: CutTraffic, reason: policy.QuorumKept},
	{row: "C-11 endpoints", given: coordinated("Lvv", Scheduled, 3, 3), change: reached, act: Await, reason: policy.ClientTrafficCut},
	{row: "C-12 cut", given: coordinated("Lvv", Scheduled, 3, 3), act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-12 no Service any more", given: coordinated("Lvv", Scheduled, 3, 3), change: vanished, act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-12 the mark is behind", given: coordinated("Lvv", Scheduled, 3, 3), change: ahead, act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-12 without a cut", given: coordinated("Lvv", Scheduled, 3, 3), change: withoutCut, act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-13 some have stopped", given: coordinated("L-s", Stopping, 0, 2), change: aborted, act: EnterStarting, reason: RestartAborted},
	{row: "C-24 another client removes a replica", given: coordinated("Lv-", Scheduled, 2, 2), change: aborted, act: EnterStarting, reason: RestartAborted},
	{row: "C-13 the record is behind", given: coordinated("---", Stopping, 0, 0), change: abortedBehind, act: EnterStarting, reason: RestartAborted},
	{row: "C-17 the record is behind", given: coordinated("---", Starting, 0, 0), change: abortedBehind, act: StartAll, reason: MembersStarting},
	{row: "C-22 a record of fewer", given: coordinated("Ddd", Starting, 3, 3), change: forged(Starting, 1), act: Finish, reason: RestartComplete},
	{row: "C-25 no quorum, and no URL of the next pods", given: coordinated("xxv", Scheduled, 3, 3), change: both(fresh, moves("012")), act: Refuse, reason: PeersUnreachable},
	{row: "C-25 one of five", given: coordinated("xxxvv", Scheduled, 5, 5), change: both(fresh, moves("0123")), act: Refuse, reason: PeersUnreachable},
	{row: "C-7 no quorum, and one URL of the next pods", given: coordinated("xxv", Scheduled, 3, 3), change: both(fresh, moves("01")), act: MarkWorkload, reason: DataKept},
	{row: "C-12 no quorum, and one URL of the next pods", given: coordinated("xxv", Scheduled, 3, 3), change: moves("01"), act: EnterStopping, reason: DataKept},
	{row: "C-10 before the member list", given: coordinated("Lvv", Scheduled, 3, 3), change: both(halfCut, moves("012")), act: CutTraffic, reason: policy.QuorumKept},
	{row: "C-26 none of three", given: coordinated("Lvv", Scheduled, 3, 3), change: moves("012"), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-26 one of three", given: coordinated("Lvv", Scheduled, 3, 3), change: moves("12"), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-12 two of three", given: coordinated("Lvv", Scheduled, 3, 3), change: moves("2"), act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-12 two of four", given: coordinated("Lvvv", Scheduled, 4, 4), change: moves("01"), act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-26 a single member", given: coordinated("L", Scheduled, 1, 1), change: moves("0"), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-30 one of four is down", given: coordinated("Lvvx", Scheduled, 4, 4), change: both(fresh, moves("0123")), act: Refuse, reason: policy.MemberDown},
	{row: "C-30 two of five are down", given: coordinated("Lvvxx", Scheduled, 5, 5), change: both(fresh, moves("01234")), act: Refuse, reason: policy.MemberDown},
	{row: "C-30 after the updates", given: coordinated("Lvvxx", Scheduled, 5, 5), change: moves("12"), act: Refuse, reason: policy.MemberDown},
	{row: "C-9 one of five is down", given: coordinated("Lvvvx", Scheduled, 5, 5), change: both(fresh, moves("01234")), act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-9 one of three is down", given: coordinated("Lvx", Scheduled, 3, 3), change: both(fresh, moves("012")), act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-9 one of four is down, and no URLs differ", given: coordinated("Lvvx", Scheduled, 4, 4), change: fresh, act: MarkWorkload, reason: policy.QuorumKept},
	{row: "C-27 the list is not read", given: coordinated("Lvv", Scheduled, 3, 3), change: unread, act: Await, reason: PeersUpdated},
	{row: "C-12 the list is not read, without a quorum", given: coordinated("xxv", Scheduled, 3, 3), change: unread, act: EnterStopping, reason: DataKept},
	{row: "C-21 the list is not read", given: coordinated("Ddd", Starting, 3, 3), change: unread, act: Await, reason: PeersUpdated},
	{row: "C-20 the list is not read", given: coordinated("nnn", Starting, 3, 3), change: both(aborted, unread), act: RestoreTraffic, reason: RestartAborted},
	{row: "C-27 one has not applied it", given: coordinated("Lvv", Scheduled, 3, 3), change: both(lags, moves("2")), act: Await, reason: PeersUpdated},
	{row: "C-28 aborted before the stop", given: coordinated("Lvv", Scheduled, 3, 3), change: both(aborted, moves("0")), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-28 aborted in stop, before any has stopped", given: coordinated("Lvv", Stopping, 3, 3), change: both(aborted, moves("01")), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-1 without a quorum, the list stays", given: coordinated("Lxx", Scheduled, 3, 3), change: both(aborted, moves("0")), act: RestoreTraffic, reason: RestartAborted},
	{row: "C-26 in stop, after an abort that died", given: coordinated("Lvv", Stopping, 3, 3), change: moves("012"), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-25 in stop, after an abort that died", given: coordinated("xxv", Stopping, 3, 3), change: moves("012"), act: Refuse, reason: PeersUnreachable},
	{row: "C-14 some have stopped", given: coordinated("-sx", Stopping, 3, 2), change: moves("2"), act: StopAll, reason: MembersStopping},
	{row: "C-29 the last of three", given: coordinated("Ddn", Starting, 3, 3), change: moves("2"), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-29 aborted", given: coordinated("Ddn", Starting, 3, 3), change: both(aborted, moves("2")), act: UpdatePeers, reason: PeersUpdated},
	{row: "C-21 no quorum yet", given: coordinated("nnn", Starting, 3, 3), change: moves("2"), act: Await, reason: MembersStarting},
	{row: "C-20 no quorum, the list stays", given: coordinated("nnn", Starting, 3, 3), change: both(aborted, moves("2")), act: RestoreTraffic, reason: RestartAborted},
	{row: "C-18 before the list", given: coordinated("Ddd", Starting, 3, 3), change: both(other, moves("2")), act: Refuse, reason: OtherMember},
	{row: "C-20 with other data, the list stays", given: coordinated("Ddd", Starting, 3, 3), change: both(abortedOther, moves("2")), act: UnmarkWorkload, reason: RestartAborted},
	{row: "C-22 unmarked, the list stays", given: coordinated("Ddd", Starting, 3, 3), change: both(unmarked, moves("2")), act: Finish, reason: RestartComplete},
	{row: "C-14 all run", given: coordinated("Lvv", Stopping, 3, 3), act: StopAll, reason: MembersStopping},
	{row: "C-14 another client starts them", given: coordinated("-sn", Stopping, 3, 2), act: StopAll, reason: MembersStopping},
	{row: "C-15 one stops", given: coordinated("--s", Stopping, 0, 1), act: Await, reason: MembersStopping},
	{row: "C-16 all are gone", given: coordinated("---", Stopping, 0, 0), act: EnterStarting, reason: MembersStopping},
	{row: "C-17 all are gone", given: coordinated("---", Starting, 0, 0), act: StartAll, reason: MembersStarting},
	{row: "C-17 another number", given: coordinated("---", Starting, 1, 0), act: StartAll, reason: MembersStarting},
	{row: "C-17 aborted", given: coordinated("---", Starting, 0, 0), change: aborted, act: StartAll, reason: MembersStarting},
	{row: "C-18 on an empty volume", given: coordinated("Ddd", Starting, 3, 3), change: other, act: Refuse, reason: OtherMember},
	{row: "C-19 one is not created", given: coordinated("Dd-", Starting, 3, 2), act: Await, reason: MembersStarting},
	{row: "C-19 also to abort", given: coordinated("Dd-", Starting, 3, 2), change: aborted, act: Await, reason: MembersStarting},
	{row: "C-20 every member has a pod", given: coordinated("nnc", Starting, 3, 3), change: aborted, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-20 with other data", given: coordinated("Ddd", Starting, 3, 3), change: abortedOther, act: UnmarkWorkload, reason: RestartAborted},
	{row: "C-20 with other data, unmarked", given: coordinated("Ddd", Starting, 3, 3), change: func(c *Coordinated) { abortedOther(c); c.Mark = "" }, act: Finish, reason: RestartAborted},
	{row: "C-20 with other data that is not seen any more", given: coordinated("Ddd", Starting, 3, 3), change: func(c *Coordinated) { c.Abort, c.Mark = true, "" }, act: Finish, reason: RestartAborted},
	{row: "C-20 of a part of the Services", given: coordinated("Ddd", Starting, 3, 3), change: abortedHalfCut, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-21 one is not healthy", given: coordinated("Ddn", Starting, 3, 3), act: Await, reason: MembersStarting},
	{row: "C-21 one is behind", given: coordinated("Ddc", Starting, 3, 3), act: Await, reason: MembersStarting},
	{row: "C-22 all are back", given: coordinated("Ddd", Starting, 3, 3), act: RestoreTraffic, reason: RestartComplete},
	{row: "C-22 restored", given: coordinated("Ddd", Starting, 3, 3), change: restored, act: UnmarkWorkload, reason: RestartComplete},
	{row: "C-22 unmarked", given: coordinated("Ddd", Starting, 3, 3), change: unmarked, act: Finish, reason: RestartComplete},
}

func TestCoordinated(t *testing.T) {
	t.Parallel()
	for _, r := range coordinatedRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			if r.change != nil {
				r.change(&r.given)
			}
			act, v := NextCoordinated(r.given)
			if act != r.act || v.Reason != r.reason || v.Allowed != (act != Refuse) || v.Message == "" {
				t.Errorf("act %d, %s (%s), want %d, %s", act, v.Reason, v.Message, r.act, r.reason)
			}
		})
	}
}

// TestNextUpdate: a member whose pod has the URLs is the first, then one that is broken.
func TestNextUpdate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		members, differ, served string
		want                    int
	}{
		{members: "Lvv", differ: "012", want: 0},
		{members: "Lvx", differ: "012", want: 2},
		{members: "Lmv", differ: "012", want: 1},
		{members: "Lvx", differ: "012", served: "1", want: 1},
		{members: "Lvx", differ: "01", want: 0},
		{members: "Lvv", differ: "0", want: -1},
		{members: "xxv", differ: "012", want: -1},
	} {
		c := coordinated(row.members, Scheduled, 3, 3)
		moves(row.differ)(&c)
		for _, at := range row.served {
			c.Members[at-'0'].PeersServed = true
		}
		if at, ok := c.NextUpdate(); ok != (row.want >= 0) || ok && at != row.want {
			t.Errorf("%+v: %d, %t", row, at, ok)
		}
	}
}
