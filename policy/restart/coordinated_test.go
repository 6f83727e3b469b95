// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// together returns a coordinated restart of members, written as for facts.
func together(members string, phase Phase, replicas, pods int, cut bool) Together {
	return Together{Facts: facts(members), Phase: phase, Replicas: replicas, Size: len(members), Pods: pods, Cuts: true, Cut: cut}
}

func ofAnotherUser(t *Together) { t.Cuts, t.Cluster.TrafficCut = false, true }
func aborted(t *Together)       { t.Abort = true }
func fails(t *Together)         { backupsFail(&t.Facts) }
func scales(t *Together)        { rollout(&t.Facts) }
func other(t *Together)         { t.OtherCluster = "main-1" }
func noServices(t *Together)    { t.Cuts = false }

// togetherRows are the rows of docs/rules/restart.md about all members at once.
var togetherRows = []struct {
	row    string
	given  Together
	change func(*Together)
	act    Act
	reason policy.Reason
}{
	{row: "C-1 before the cut", given: together("Lvv", Scheduled, 3, 3, false), change: aborted, act: Finish, reason: RestartAborted},
	{row: "C-1 after the cut", given: together("Lvv", Scheduled, 3, 3, true), change: aborted, act: RestoreTraffic, reason: RestartAborted},
	{row: "C-2 no quorum", given: together("Lxx", Scheduled, 3, 3, false), act: Refuse, reason: policy.NoQuorum},
	{row: "C-2 a learner", given: together("Lvl", Scheduled, 3, 3, false), act: Refuse, reason: policy.LearnerPresent},
	{row: "C-2 a scale", given: together("Lvv", Scheduled, 3, 3, false), change: scales, act: Refuse, reason: policy.OperationUnderWay},
	{row: "C-2 backups fail", given: together("Lvv", Scheduled, 3, 3, false), change: fails, act: Refuse, reason: policy.BackupFailing},
	{row: "C-2 another user's cut", given: together("Lvv", Scheduled, 3, 3, true), change: ofAnotherUser, act: Refuse, reason: policy.ClientTrafficCut},
	{row: "C-3 well", given: together("Lvv", Scheduled, 3, 3, false), act: CutTraffic, reason: policy.QuorumKept},
	{row: "C-3 one is down", given: together("Lvx", Scheduled, 3, 3, false), act: CutTraffic, reason: policy.QuorumKept},
	{row: "C-4 cut", given: together("Lvv", Scheduled, 3, 3, true), act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-4 no Service", given: together("Lvv", Scheduled, 3, 3, false), change: noServices, act: EnterStopping, reason: policy.QuorumKept},
	{row: "C-5 all run", given: together("Lvv", Stopping, 3, 3, true), act: StopAll, reason: MembersStopping},
	{row: "C-5 also when aborted", given: together("Lvv", Stopping, 3, 3, true), change: aborted, act: StopAll, reason: MembersStopping},
	{row: "C-6 one stops", given: together("--s", Stopping, 0, 1, true), act: Await, reason: MembersStopping},
	{row: "C-7 all are gone", given: together("---", Stopping, 0, 0, true), act: EnterStarting, reason: MembersStopping},
	{row: "C-8 all are gone", given: together("---", Starting, 0, 0, true), act: StartAll, reason: MembersStarting},
	{row: "C-9 on an empty volume", given: together("Ddd", Starting, 3, 3, true), change: other, act: Refuse, reason: OtherClusterID},
	{row: "C-10 one is not created", given: together("Dd-", Starting, 3, 2, true), act: Await, reason: MembersStarting},
	{row: "C-10 one is not healthy", given: together("Ddn", Starting, 3, 3, true), act: Await, reason: MembersStarting},
	{row: "C-10 one is behind", given: together("Ddc", Starting, 3, 3, true), act: Await, reason: MembersStarting},
	{row: "C-11 all are back", given: together("Ddd", Starting, 3, 3, true), act: RestoreTraffic, reason: RestartComplete},
	{row: "C-12 restored", given: together("Ddd", Starting, 3, 3, false), act: Finish, reason: RestartComplete},
}

func TestTogether(t *testing.T) {
	t.Parallel()
	for _, r := range togetherRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			if r.change != nil {
				r.change(&r.given)
			}
			act, v := NextTogether(r.given)
			if act != r.act || v.Reason != r.reason || v.Allowed != (act != Refuse) || v.Message == "" {
				t.Errorf("act %d, %s (%s), want %d, %s", act, v.Reason, v.Message, r.act, r.reason)
			}
		})
	}
}

// TestTogetherNeverMixed: in no state does a member start before all have stopped, and client
// traffic is restored only when all are back or nothing was stopped.
func TestTogetherNeverMixed(t *testing.T) {
	t.Parallel()
	everyState(3, func(state string) {
		for _, phase := range []Phase{Scheduled, Stopping, Starting} {
			for replicas := range len(state) + 1 {
				for pods := range len(state) + 1 {
					for _, cut := range []bool{false, true} {
						act, _ := NextTogether(together(state, phase, replicas, pods, cut))
						started := act == StartAll || act == EnterStarting
						if phase == Stopping && started && (pods > 0 || replicas > 0) {
							t.Errorf("%s with %d pods: members start before all have stopped", state, pods)
						}
						if phase == Scheduled && (act == StopAll || started) || phase == Starting && act == StopAll {
							t.Errorf("%s in phase %s: act %d", state, phase, act)
						}
						if act == RestoreTraffic && len(Order(facts(state))) == 0 && answering(state) < len(state) {
							t.Errorf("%s in phase %s: traffic is restored", state, phase)
						}
					}
				}
			}
		}
	})
}
