// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// facts returns a cluster of members written as letters, one for each. A member that runs in its
// old pod:
//
//	v  a healthy follower      L  the leader             l  a healthy learner
//	x  down                    m  healthy, not Ready     b  behind the leader
//
// A member during its restart:
//
//	s  its pod is stopping     -  its pod is gone        n  new, and not healthy yet
//	c  new, and behind         d  new and back           D  new, back and the leader
//
// and ? is a member of etcd's list that runs in no pod.
func facts(letters string) Facts {
	f := Facts{Cluster: policy.Cluster{Namespace: "team", Name: "main", Size: len(letters)}}
	for i, letter := range letters {
		m := Member{Pod: fmt.Sprintf("main-%d", i), Recorded: letter != '?', Exists: !strings.ContainsRune("-?", letter)}
		m.Leader = letter == 'L' || letter == 'D'
		m.Learner = letter == 'l'
		m.Leaving = letter == 's'
		m.New = strings.ContainsRune("ncdD", letter)
		m.PodReady = strings.ContainsRune("vLlbcdD", letter)
		if strings.ContainsRune("xsn-?", letter) {
			m.Trouble = "it does not answer"
		}
		if letter == 'b' || letter == 'c' {
			m.Behind = policy.LagLimit + 1
		}
		f.Members = append(f.Members, m)
		if m.Exists {
			f.Cluster.Members = append(f.Cluster.Members, policy.Member{
				Pod: m.Pod, Exists: true, PodReady: m.PodReady, Ready: m.Trouble == "", Learner: m.Learner, Leader: m.Leader,
			})
		}
	}
	return f
}

func backupsFail(f *Facts) {
	f.Cluster.BackupReady = policy.Condition{Status: policy.False, Reason: "BackupFailed"}
}
func only(pod string) func(*Facts) { return func(f *Facts) { f.Only = pod } }
func rollout(f *Facts)             { f.Cluster.Operation = "rollout, 1 of 3 members updated" }
func cut(f *Facts)                 { f.Cluster.TrafficCut = true }
func unlisted(f *Facts)            { f.Cluster.Size++ }

// rollingRows are the rows of docs/rules/restart.md about restarts one by one.
var rollingRows = []struct {
	row, members string
	change       func(*Facts)
	kind         Kind
	pod          string
	reason       policy.Reason
}{
	{row: "RS-1 a pod stops", members: "Lvs", kind: Wait, pod: "main-2", reason: MemberRestarting},
	{row: "RS-1 a pod is gone", members: "Lv-", kind: Wait, pod: "main-2", reason: MemberRestarting},
	{row: "RS-1 new, not healthy", members: "Lvn", kind: Wait, pod: "main-2", reason: MemberRestarting},
	{row: "RS-1 new, behind", members: "Lvc", kind: Wait, pod: "main-2", reason: MemberRestarting},
	{row: "RS-1 also with another to repair", members: "Lxn", kind: Wait, pod: "main-2", reason: MemberRestarting},
	{row: "RS-1 also of a member that is not asked for", members: "Lvs", change: only("main-1"), kind: Wait, pod: "main-2", reason: MemberRestarting},
	{row: "RS-2 all are back", members: "dDd", kind: Done, reason: RestartComplete},
	{row: "RS-2 the one is back", members: "Lvd", change: only("main-2"), kind: Done, reason: RestartComplete},
	{row: "RS-3 no leader", members: "vvv", kind: Blocked, pod: "main-2", reason: policy.NoQuorum},
	{row: "RS-3 all down", members: "xxx", kind: Blocked, pod: "main-2", reason: policy.NoQuorum},
	{row: "RS-4 two members", members: "Lv", kind: Blocked, pod: "main-1", reason: QuorumNeedsAll},
	{row: "RS-4 one of three is down, the other is asked for", members: "Lvx", change: only("main-1"), kind: Blocked, pod: "main-1", reason: QuorumNeedsAll},
	{row: "RS-4 a member that runs in no pod", members: "Lv?", kind: Blocked, pod: "main-1", reason: QuorumNeedsAll},
	{row: "RS-5 another is down", members: "Lvvvx", change: only("main-1"), kind: Blocked, pod: "main-1", reason: policy.MemberDown},
	{row: "RS-5 another is not Ready", members: "Lvvvm", change: only("main-1"), kind: Blocked, pod: "main-1", reason: policy.MemberDown},
	{row: "RS-6 another is behind", members: "Lvb", change: only("main-1"), kind: Blocked, pod: "main-1", reason: policy.CatchingUp},
	{row: "RS-6 another is behind, to repair one", members: "Lvvbx", kind: Blocked, pod: "main-4", reason: policy.CatchingUp},
	{row: "RS-7 backups fail", members: "Lvv", change: backupsFail, kind: Blocked, pod: "main-2", reason: policy.BackupFailing},
	{row: "RS-7 a rollout", members: "Lvv", change: rollout, kind: Blocked, pod: "main-2", reason: policy.OperationUnderWay},
	{row: "RS-7 client traffic is cut", members: "Lvv", change: cut, kind: Blocked, pod: "main-2", reason: policy.ClientTrafficCut},
	{row: "RS-7 a member is missing", members: "Lvv", change: unlisted, kind: Blocked, pod: "main-2", reason: policy.MemberDown},
	{row: "RS-8 the leader is the last", members: "Ldd", kind: MoveLeader, pod: "main-0", reason: LeaderLast},
	{row: "RS-8 the leader is asked for", members: "Lvv", change: only("main-0"), kind: MoveLeader, pod: "main-0", reason: LeaderLast},
	{row: "RS-9 the highest follower", members: "Lvv", kind: Restart, pod: "main-2", reason: policy.AllReady},
	{row: "RS-9 the next", members: "Lvd", kind: Restart, pod: "main-1", reason: policy.AllReady},
	{row: "RS-9 the old leader", members: "vDd", kind: Restart, pod: "main-0", reason: policy.AllReady},
	{row: "RS-9 the leader leads again from the middle", members: "vLv", kind: Restart, pod: "main-2", reason: policy.AllReady},
	{row: "RS-9 a broken one first", members: "Lxv", kind: Restart, pod: "main-1", reason: policy.CuresMember},
	{row: "RS-9 not Ready first", members: "Lmv", kind: Restart, pod: "main-1", reason: policy.CuresMember},
	{row: "RS-9 broken, and backups fail", members: "Lxv", change: backupsFail, kind: Restart, pod: "main-1", reason: policy.CuresMember},
	{row: "RS-9 broken, in a rollout", members: "Lxv", change: rollout, kind: Restart, pod: "main-1", reason: policy.CuresMember},
	{row: "RS-9 a learner before followers", members: "Llvv", kind: Restart, pod: "main-1", reason: policy.AllReady},
	{row: "RS-9 a single member", members: "L", kind: Restart, pod: "main-0", reason: policy.AllReady},
	{row: "RS-9 a single member that is down", members: "x", kind: Restart, pod: "main-0", reason: policy.CuresMember},
}

func TestRolling(t *testing.T) {
	t.Parallel()
	for _, r := range rollingRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			f := facts(r.members)
			if r.change != nil {
				r.change(&f)
			}
			s := Next(f)
			if s.Kind != r.kind || s.Pod != r.pod || s.Reason != r.reason {
				t.Errorf("kind %d, pod %q, %s (%s), want %d, %q, %s", s.Kind, s.Pod, s.Reason, s.Message, r.kind, r.pod, r.reason)
			}
			if s.Message == "" {
				t.Error("no message")
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		"Lvv":    "main-2 main-1 main-0",
		"vvL":    "main-1 main-0 main-2",
		"vLxvlm": "main-5 main-2 main-4 main-3 main-0 main-1",
		"Ldv":    "main-2 main-0",
		"ddD":    "",
	} {
		if got := strings.Join(Order(facts(members)), " "); got != want {
			t.Errorf("%s: %s, want %s", members, got, want)
		}
	}
}
