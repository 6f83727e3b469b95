// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// budgetRows are the rows of docs/rules/budget.md that take no time to show:
// the state is judged at one moment, with no budget before it.
var budgetRows = []struct {
	row, members string
	all, backup  policy.Status
	age          time.Duration // of both conditions
	since        time.Duration // how long hold, stale or Unknown have lasted
	stale, cut   bool
	unknown      bool // which other members there are
	was          int  // the size before
	operation    string
	restarting   bool
	want         int
	reason       policy.Reason
	notes        string
}{
	{row: "B-1 one member", members: "v", want: 0, reason: SingleMember},
	{row: "B-1 one member, down", members: "x", want: 0, reason: SingleMember},
	{row: "B-1 one member, backups fail", members: "v", backup: policy.False, want: 0, reason: SingleMember},
	{row: "B-1 one member, stale", members: "v", stale: true, want: 0, reason: SingleMember},
	{row: "B-1 one member, cut", members: "v", cut: true, want: 0, reason: SingleMember},
	{row: "B-1 one member and another pod", members: "v+", want: 0, reason: SingleMember},
	{row: "B-1 no member", members: "", want: 0, reason: SingleMember},
	{row: "B-48 three members before", members: "", was: 3, want: 2, reason: ScaledToZero},
	{row: "B-48 one member before", members: "", was: 1, want: 0, reason: SingleMember},
	{row: "B-48 one of three started again", members: "v--", was: 3, want: 3, reason: QuorumAtRisk},
	{row: "B-41 one member is known", members: "v", unknown: true, want: 1, reason: policy.SizeUnknown},
	{row: "B-41 it is down", members: "x", unknown: true, want: 1, reason: policy.SizeUnknown},
	{row: "B-41 and another pod", members: "v+", unknown: true, want: 2, reason: policy.SizeUnknown},
	{row: "B-41 no member", members: "", unknown: true, want: 0, reason: SingleMember},
	{row: "B-41 three are known", members: "vvv", unknown: true, want: 2, reason: policy.AllReady},
	{row: "B-2 all ready", members: "vvv", cut: true, want: 3, reason: policy.ClientTrafficCut},
	{row: "B-2 one down", members: "vvx", cut: true, want: 3, reason: policy.ClientTrafficCut},
	{row: "B-2 stale too long", members: "vvx", cut: true, stale: true, since: time.Hour, want: 3, reason: policy.ClientTrafficCut},
	{row: "B-3 all pods Ready", members: "ppp", stale: true, want: 3, reason: policy.FactsStale},
	{row: "B-3 one pod is not", members: "ppx", stale: true, want: 3, reason: policy.FactsStale},
	{row: "B-3 just within the limit", members: "ppx", stale: true, since: 10*time.Minute - 1, want: 3, reason: policy.FactsStale},
	{row: "B-4 one pod is not Ready", members: "ppx", stale: true, since: 10 * time.Minute, want: 2, reason: FactsStaleTooLong, notes: FactsStaleTooLong.Name()},
	{row: "B-4 all pods Ready", members: "ppp", stale: true, since: time.Hour, want: 3, reason: FactsStaleTooLong, notes: FactsStaleTooLong.Name()},
	{row: "B-4 fewer pods than a quorum", members: "pxx", stale: true, since: time.Hour, want: 2, reason: FactsStaleTooLong, notes: FactsStaleTooLong.Name()},
	{row: "B-4 learner and another pod added", members: "pxxP+", stale: true, since: time.Hour, want: 5, reason: FactsStaleTooLong, notes: FactsStaleTooLong.Name() + " " + EvenSize.Name()},
	{row: "B-5 all ready", members: "vvv", backup: policy.False, want: 3, reason: policy.BackupFailing},
	{row: "B-5 just within the limit", members: "vvvvv", backup: policy.False, since: time.Hour - 1, want: 5, reason: policy.BackupFailing},
	{row: "B-6 the limit has passed", members: "vvvvv", backup: policy.False, since: time.Hour, want: 3, reason: BackupFailingTooLong, notes: BackupFailingTooLong.Name()},
	{row: "B-7 two", members: "vv", all: policy.True, want: 2, reason: policy.AllReady, notes: TwoMembers.Name()},
	{row: "B-7 three", members: "vvv", all: policy.True, backup: policy.True, want: 2, reason: policy.AllReady},
	{row: "B-7 four", members: "vvvv", all: policy.True, want: 3, reason: policy.AllReady, notes: EvenSize.Name()},
	{row: "B-7 five, no conditions", members: "vvvvv", want: 3, reason: policy.AllReady},
	{row: "B-7 seven, condition Unknown", members: "vvvvvvv", all: policy.Unknown, want: 4, reason: policy.AllReady},
	{row: "B-8 two of three down", members: "vxx", want: 3, reason: QuorumAtRisk},
	{row: "B-8 all pods unready, members ready", members: "mmm", want: 3, reason: QuorumAtRisk},
	{row: "B-8 one down, one pod unready", members: "vxm", want: 3, reason: QuorumAtRisk},
	{row: "B-8 one there of three to be", members: "v--", want: 3, reason: QuorumAtRisk},
	{row: "B-8 pods are no members", members: "vvppx", want: 5, reason: QuorumAtRisk},
	{row: "B-8 the missing may have a vote", members: "vx-", want: 3, reason: QuorumAtRisk},
	{row: "B-9 one of three down", members: "vvx", all: policy.False, want: 2, reason: policy.MemberDown},
	{row: "B-9 before the condition follows", members: "vvx", all: policy.True, want: 2, reason: policy.MemberDown},
	{row: "B-9 backups fail too", members: "vvx", backup: policy.False, want: 2, reason: policy.MemberDown},
	{row: "B-9 one of five down", members: "vvvvx", want: 4, reason: policy.MemberDown},
	{row: "B-9 two of five down", members: "vvvxx", want: 3, reason: policy.MemberDown},
	{row: "B-9 one down, another's pod unready", members: "vvvxm", want: 3, reason: policy.MemberDown},
	{row: "B-9 one down, another without its pod's knowledge", members: "vvvxp", want: 4, reason: policy.MemberDown},
	{row: "B-9 one is not there", members: "vv-", want: 2, reason: policy.MemberDown},
	{row: "B-9 growing from three to five", members: "vvv--", want: 3, reason: policy.MemberDown},
	{row: "B-9 a learner is down", members: "vvvX", want: 3, reason: policy.MemberDown, notes: EvenSize.Name()},
	{row: "B-9 a voter is down, a learner is well", members: "vvxV", want: 3, reason: policy.MemberDown, notes: EvenSize.Name()},
	{row: "B-9 a voter and a learner are down", members: "vvxX", want: 2, reason: policy.MemberDown, notes: EvenSize.Name()},
	{row: "B-10 three", members: "vvm", want: 3, reason: PodNotReady},
	{row: "B-10 and one without its pod's knowledge", members: "vvvmp", want: 5, reason: PodNotReady},
	{row: "B-10 a learner that catches up", members: "vvvM", want: 4, reason: PodNotReady, notes: EvenSize.Name()},
	{row: "B-11 three", members: "vvp", all: policy.False, want: 3, reason: MemberNotReady},
	{row: "B-11 five", members: "vvvpp", want: 5, reason: MemberNotReady},
	{row: "B-12 three", members: "vvv", all: policy.False, want: 3, reason: policy.ConditionFalse},
	{row: "B-12 backups fail beyond the limit", members: "vvv", all: policy.False, backup: policy.False, since: time.Hour, want: 3, reason: policy.ConditionFalse},
	{row: "B-47 three of which one joined", members: "vvj", want: 3, reason: policy.MemberJoined},
	{row: "B-47 five of which one joined", members: "vvvvj", want: 4, reason: policy.MemberJoined},
	{row: "B-47 five of which two joined", members: "vvvjj", want: 4, reason: policy.MemberJoined},
	{row: "B-47 all joined", members: "jjj", want: 3, reason: policy.MemberJoined},
	{row: "B-47 and another pod", members: "vvj+", want: 4, reason: policy.MemberJoined},
	{row: "B-7 a fourth joined", members: "vvvj", want: 3, reason: policy.AllReady, notes: EvenSize.Name()},
	{row: "B-5 one joined", members: "vvj", backup: policy.False, want: 3, reason: policy.BackupFailing},
	{row: "B-8 one that joined may have no vote", members: "vxj", want: 3, reason: QuorumAtRisk},
	{row: "B-9 one joined, one is down", members: "vvvxj", want: 4, reason: policy.MemberDown},
	{row: "B-43 all ready", members: "vvv", restarting: true, want: 3, reason: RolloutUnderWay},
	{row: "B-43 one restarts", members: "vvx", restarting: true, want: 3, reason: RolloutUnderWay},
	{row: "B-43 one is created again", members: "vv-", restarting: true, want: 3, reason: RolloutUnderWay},
	{row: "B-43 and another pod", members: "vvvvv+", restarting: true, want: 6, reason: RolloutUnderWay},
	{row: "B-43 backups fail within the limit", members: "vvv", restarting: true, backup: policy.False, want: 3, reason: policy.BackupFailing},
	{row: "B-43 backups fail for longer", members: "vvv", restarting: true, backup: policy.False, since: time.Hour, want: 3, reason: RolloutUnderWay},
	{row: "B-43 no quorum", members: "vxx", restarting: true, want: 3, reason: QuorumAtRisk},
	{row: "B-43 one member", members: "v", restarting: true, want: 0, reason: SingleMember},
	{row: "B-13 all ready", members: "vvv+", want: 3, reason: policy.AllReady},
	{row: "B-13 one down", members: "vvx+", want: 3, reason: policy.MemberDown},
	{row: "B-13 no eviction", members: "vvm+", want: 4, reason: PodNotReady},
	{row: "B-14 all ready, five and a learner", members: "vvvvvV", want: 5, reason: policy.AllReady, notes: EvenSize.Name()},
	{row: "B-14 never more than all", members: "vVVV", want: 4, reason: policy.AllReady, notes: EvenSize.Name()},
	{row: "B-14 one down", members: "vvvvxV", want: 5, reason: policy.MemberDown, notes: EvenSize.Name()},
	{row: "B-15 four", members: "vvvv", want: 3, reason: policy.AllReady, notes: EvenSize.Name()},
	{row: "B-15 two", members: "vv", want: 2, reason: policy.AllReady, notes: TwoMembers.Name()},
	{row: "B-15 four on the way", members: "vvvv", operation: "scale", want: 3, reason: policy.AllReady},
	{row: "B-15 two on the way", members: "vv", operation: "scale", want: 2, reason: policy.AllReady},
	{row: "B-16 absent", members: "vvv", backup: policy.Absent, want: 2, reason: policy.AllReady},
	{row: "B-16 absent after a failure", members: "vvv", backup: policy.Absent, since: time.Minute, want: 2, reason: policy.AllReady},
	{row: "B-18 AllMembersReady", members: "vvv", all: policy.False, age: 2*time.Minute + 1, want: 2, reason: policy.AllReady},
	{row: "B-18 AllMembersReady, just in time", members: "vvv", all: policy.False, age: 2 * time.Minute, want: 3, reason: policy.ConditionFalse},
	{row: "B-18 BackupReady", members: "vvv", backup: policy.False, age: 2*time.Minute + 1, want: 2, reason: policy.AllReady},
	{row: "B-18 BackupReady, just in time", members: "vvv", backup: policy.False, age: 2 * time.Minute, want: 3, reason: policy.BackupFailing},
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for _, r := range budgetRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			c := policytest.ClusterOf(r.members)
			c.Stale, c.TrafficCut, c.Operation, c.Restarting = r.stale, r.cut, r.operation, r.restarting
			c.Hibernated = r.was
			if r.unknown {
				c.SizeUnknown = "Secret tuning is not read"
			}
			c.AllMembersReady = policy.Condition{Status: r.all, Age: r.age}
			c.BackupReady = policy.Condition{Status: r.backup, Age: r.age}
			f := Facts{Cluster: c, Current: -1, Now: start}
			if r.since > 0 {
				f.State = State{HoldSince: start.Add(-r.since), StaleSince: start.Add(-r.since)}
			}
			v := Evaluate(f, settings)
			if v.MinAvailable != r.want || v.Target != r.want || v.Reason != r.reason || policytest.ReasonsOf(v.Notes) != r.notes {
				t.Errorf("got minAvailable %d of %d for %s %q, want %d for %s %q",
					v.MinAvailable, v.Target, v.Reason, policytest.ReasonsOf(v.Notes), r.want, r.reason, r.notes)
			}
			if !strings.HasPrefix(v.Message, "etcd cluster shoot/main: ") {
				t.Errorf("message names no cluster: %s", v.Message)
			}
		})
	}
}

func TestBudgetMessage(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		"vvx":      "etcd cluster shoot/main: 2 of 3 members ready (main-2 is not), quorum is 2: minAvailable 2 allows evictions of unready pods only",
		"vvp":      "etcd cluster shoot/main: 2 of 3 members ready (main-2 is not; main-2 still has a Ready pod), quorum is 2: minAvailable 3 allows no eviction until the member is ready or its pod is known to be down",
		"vmmxx":    "etcd cluster shoot/main: 3 of 5 members ready (main-3 and main-4 are not; main-1 and main-2 are ready but their pods are not), quorum is 3: minAvailable 5 allows no eviction until more members and their pods are ready",
		"vv-":      "etcd cluster shoot/main: 2 of 3 members ready (1 missing), quorum is 2: minAvailable 2 allows evictions of unready pods only",
		"vvv+":     "etcd cluster shoot/main: 3 of 3 members ready, 1 other Ready pods under the budget, quorum is 2: minAvailable 3 allows evictions down to the quorum",
		"vvj":      "etcd cluster shoot/main: 3 of 3 members ready, main-2 may be a learner, quorum is 2: minAvailable 3 allows evictions down to a quorum without the members that joined a moment ago",
		"v":        "etcd cluster shoot/main: size 1: minAvailable 0, because no budget can keep a single member available",
		"vxxxxxx":  "etcd cluster shoot/main: 1 of 7 members ready (main-1, main-2, main-3, main-4 and 2 more are not), quorum is 4: minAvailable 7 allows no eviction until more members and their pods are ready",
		"vvvvvVV+": "etcd cluster shoot/main: 7 of 7 members ready, 2 Ready learner pods, 1 other Ready pods under the budget, quorum is 4: minAvailable 7 allows evictions down to the quorum",
	} {
		got := Evaluate(Facts{Cluster: policytest.ClusterOf(members), Current: -1, Now: start}, settings).Message
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", members, got, want)
		}
	}
	waiting := Evaluate(Facts{Cluster: policytest.ClusterOf("vvv"), Current: 3, Now: start}, settings).Message
	const want = "etcd cluster shoot/main: 3 of 3 members ready, quorum is 2: minAvailable 2 allows evictions down to the quorum, after minAvailable 3 until 2030-01-01T00:01:00Z"
	if waiting != want {
		t.Errorf("waiting:\n got %s\nwant %s", waiting, want)
	}
}

// TestBudgetNonsense has facts that can't be: they come to the nearest sense,
// and to numbers that fit a budget.
func TestBudgetNonsense(t *testing.T) {
	t.Parallel()
	ghost := policytest.ClusterOf("vvp")
	ghost.Members[2].Exists = false
	huge := policy.Cluster{Size: math.MaxInt, NonMemberPods: math.MaxInt, TrafficCut: true}
	small := policytest.ClusterOf("vvv")
	small.Size, small.NonMemberPods = -1, -1
	for _, r := range []struct {
		what string
		c    policy.Cluster
		want int
	}{
		{"a Ready pod that is not there", ghost, 2},
		{"a size smaller than the members", small, 2},
		{"a size beyond all numbers", huge, 2 * most},
	} {
		if v := Evaluate(Facts{Cluster: r.c, Current: -1, Now: start}, settings); v.MinAvailable != r.want {
			t.Errorf("%s: minAvailable %d, want %d", r.what, v.MinAvailable, r.want)
		}
	}
}

func TestAdoptMaxUnavailable(t *testing.T) {
	t.Parallel()
	// B-28
	for _, r := range []struct{ replicas, target, want int }{
		{3, 2, 1}, {3, 3, 0}, {5, 3, 2}, {3, 4, 0}, {1, 0, 1}, {0, 0, 0}, {3, -1, 3}, {-1, 2, 0},
	} {
		if got := AdoptMaxUnavailable(r.replicas, r.target); got != r.want {
			t.Errorf("AdoptMaxUnavailable(%d, %d) = %d, want %d", r.replicas, r.target, got, r.want)
		}
	}
}
