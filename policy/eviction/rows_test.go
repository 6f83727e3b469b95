// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package eviction

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// evictionRows are the rows of docs/rules/eviction.md. pod is the number of the pod that is
// to be evicted.
var evictionRows = []struct {
	row      string
	members  string
	pod      string
	underWay []UnderWay
	removed  []string
	stale    bool
	idle     bool
	unknown  bool // which other members there are
	allowed  bool
	reason   policy.Reason
	record   bool
}{
	{row: "E-1", members: "vvx", pod: "other-0", allowed: true, reason: NotMember},
	{row: "E-1 idle", members: "vxx", pod: "main-1", idle: true, allowed: true, reason: NotMember},
	{row: "E-2", members: "v", pod: "main-0", allowed: true, reason: OneMember},
	{row: "E-2 down", members: "x", pod: "main-0", allowed: true, reason: OneMember},
	{row: "E-9", members: "v", pod: "main-0", unknown: true, reason: policy.SizeUnknown},
	{row: "E-9 down", members: "x", pod: "main-0", unknown: true, reason: policy.SizeUnknown},
	{row: "E-1 of one that is known", members: "v", pod: "main-0", idle: true, unknown: true, allowed: true, reason: NotMember},
	{row: "E-6 three are known", members: "vvv", pod: "main-0", unknown: true, allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-3", members: "xxm", pod: "main-0", stale: true, reason: policy.FactsStale},
	{row: "E-3 Ready", members: "ppp", pod: "main-0", stale: true, reason: policy.FactsStale},
	{row: "E-3 too few Ready", members: "pxx", pod: "main-1", stale: true, reason: policy.FactsStale},
	{row: "E-4", members: "ppx", pod: "main-2", stale: true, allowed: true, reason: policy.CuresMember},
	{row: "E-4 under way", members: "ppx", pod: "main-2", stale: true, underWay: []UnderWay{{Pod: "main-0"}}, reason: policy.FactsStale},
	{row: "E-5", members: "vvx", pod: "main-2", allowed: true, reason: policy.CuresMember},
	{row: "E-5 two of five", members: "vvvxx", pod: "main-3", allowed: true, reason: policy.CuresMember},
	{row: "E-5 learner", members: "vvvX", pod: "main-3", allowed: true, reason: policy.CuresMember},
	{row: "E-6", members: "vvv", pod: "main-0", allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-6 pod not Ready", members: "vvm", pod: "main-2", allowed: true, reason: policy.QuorumKept},
	{row: "E-6 member not ready", members: "vvp", pod: "main-2", allowed: true, reason: policy.QuorumKept},
	{row: "E-6 learner", members: "vvvV", pod: "main-3", allowed: true, reason: policy.QuorumKept},
	{row: "E-6 own record", members: "vvv", pod: "main-0", underWay: []UnderWay{{Pod: "main-0"}}, allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-6 old record", members: "vvv", pod: "main-0", underWay: []UnderWay{{Pod: "main-1", Age: time.Minute}}, allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-6 two of five", members: "vvvvv", pod: "main-0", underWay: []UnderWay{{Pod: "main-1"}}, allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-7", members: "vvv", pod: "main-0", underWay: []UnderWay{{Pod: "main-1", Age: 59 * time.Second}}, reason: EvictionUnderWay},
	{row: "E-7 third of five", members: "vvvvv", pod: "main-0", underWay: []UnderWay{{Pod: "main-1"}, {Pod: "main-2"}}, reason: EvictionUnderWay},
	{row: "E-8", members: "vvx", pod: "main-0", reason: QuorumNeedsMember},
	{row: "E-8 missing", members: "vv-", pod: "main-0", reason: QuorumNeedsMember},
	{row: "E-8 pod not Ready", members: "vmx", pod: "main-1", reason: QuorumNeedsMember},
	{row: "E-8 two", members: "vv", pod: "main-0", reason: QuorumNeedsMember},
	{row: "E-8 no quorum", members: "vxx", pod: "main-1", reason: QuorumNeedsMember},
	{row: "E-6 without a replica", members: "vvvvv", pod: "main-0", removed: []string{"main-4"}, allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-8 without a replica", members: "vvvvv", pod: "main-0", removed: []string{"main-3", "main-4"}, reason: QuorumNeedsMember},
	{row: "E-7 without a replica, and under way", members: "vvvvv", pod: "main-0", removed: []string{"main-4"}, underWay: []UnderWay{{Pod: "main-3"}}, reason: EvictionUnderWay},
	{row: "E-3 without a replica", members: "ppx", pod: "main-2", stale: true, removed: []string{"main-0"}, reason: policy.FactsStale},
	{row: "E-6 one of five joined", members: "vvvvj", pod: "main-0", allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-6 the one that joined", members: "vvj", pod: "main-2", allowed: true, reason: policy.QuorumKept, record: true},
	{row: "E-5 beside one that joined", members: "vvvxj", pod: "main-3", allowed: true, reason: policy.CuresMember},
	{row: "E-7 beside one that joined", members: "vvvvj", pod: "main-0", underWay: []UnderWay{{Pod: "main-1"}}, reason: EvictionUnderWay},
	{row: "E-10 one of three joined", members: "vvj", pod: "main-0", reason: policy.MemberJoined},
	{row: "E-10 one of five joined, and one is down", members: "vvvxj", pod: "main-0", reason: policy.MemberJoined},
	{row: "E-10 all joined", members: "jjj", pod: "main-0", reason: policy.MemberJoined},
	{row: "E-8 learner with a vote", members: "vvxV", pod: "main-3", reason: QuorumNeedsMember},
}

func TestEvictionRows(t *testing.T) {
	t.Parallel()
	for _, r := range evictionRows {
		t.Run(r.row+" "+r.members, func(t *testing.T) {
			t.Parallel()
			c := policytest.ClusterOf(r.members)
			c.Stale = r.stale
			if r.unknown {
				c.SizeUnknown = "Secret tuning is not read"
			}
			got := Evaluate(Facts{Cluster: c, Pod: r.pod, Idle: r.idle, UnderWay: r.underWay, Removed: r.removed, Settle: time.Minute})
			if got.Allowed != r.allowed || got.Reason != r.reason || got.Record != r.record {
				t.Errorf("%+v", got)
			}
			if r.reason == policy.SizeUnknown && !strings.Contains(got.Message, c.DeclareListed()) {
				t.Errorf("message without the way: %s", got.Message)
			}
			if !strings.HasPrefix(got.Message, "etcd cluster shoot/main: ") || !got.Allowed && !strings.Contains(got.Message, "quorum is ") {
				t.Errorf("message without the cluster or the numbers: %s", got.Message)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	c := policytest.ClusterOf("vvx")
	want := "etcd cluster shoot/main: 2 of 3 voters are healthy (main-2 is not), and quorum is 2: without main-0 only 1 would stay; wait until the other members are healthy"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0"}).Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = policytest.ClusterOf("vxx")
	want = "etcd cluster shoot/main: 1 of 3 voters are healthy (main-1 and main-2 are not), and quorum is 2: without main-1 only 1 would stay; 3 voters have no quorum now, and kubectl etcd diagnose etcd/main -n shoot shows the way back"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-1"}); got.Message != want || !got.Lost {
		t.Errorf("lost is %t, got  %s\nwant %s", got.Lost, got.Message, want)
	}
	c.Target = "statefulset/main"
	want += "; if the replicas were raised and etcd has only N voters, as kubectl etcd member list statefulset/main -n shoot shows, run: " +
		`kubectl patch statefulset/main -n shoot --type merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/size":"N at '$(date -u +%FT%TZ)'"}},"spec":{"replicas":N}}'`
	if got := Evaluate(Facts{Cluster: c, Pod: "main-1"}).Message; got != strings.Replace(want, "etcd/main", "statefulset/main", 1) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = policytest.ClusterOf("vvp")
	c.Members[2].NodeLost = "node a does not exist"
	want = "etcd cluster shoot/main: 2 of 3 voters are healthy (main-2 is not: node a does not exist), and quorum is 2: without main-0 only 1 would stay; wait until the other members are healthy"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0"}).Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = policytest.ClusterOf("ppx")
	c.Stale, c.Members[0].NodeLost = true, "node a does not exist"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-2"}); got.Allowed {
		t.Errorf("the Ready pod of a lost node is counted: %s", got.Message)
	}
	c = policytest.ClusterOf("vvj")
	want = "etcd cluster shoot/main: 3 of 3 voters are healthy, and quorum is 2: without main-0 only 2 would stay, and main-2 joined a moment ago and may be a learner; wait until a member that joined has been ready for 1m"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0", Settle: time.Minute}); got.Message != want || got.Lost {
		t.Errorf("lost is %t, got  %s\nwant %s", got.Lost, got.Message, want)
	}
	c.Members[2].ReadyFor = time.Minute
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0", Settle: time.Minute}); !got.Allowed {
		t.Errorf("ready for the settle time: %s", got.Message)
	}
	c = policytest.ClusterOf("vv-")
	want = "start the missing members, or, if etcd has fewer than 3 voters, set N to their number and run: " +
		`kubectl annotate --overwrite etcd/main -n shoot kubectl-etcd.dev/size="N at $(date -u +%FT%TZ)"`
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0"}).Message; !strings.HasSuffix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Elsewhere = 2 // more than are missing: one may have been seen since
	want = "stay; only the lists of the others name 1 of the missing members, and these were not asked: " +
		"if StatefulSets of this namespace run them, name all members in the lists of all (--initial-cluster), so that they count; " +
		"if other pods run them, which etcd-webhook doesn't count, replace each of them with a member that a StatefulSet runs; if nothing runs them, " + want
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0"}).Message; !strings.HasSuffix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = policytest.ClusterOf("vvv")
	want = "etcd cluster shoot/main: 2 of 3 voters are healthy (main-1 is being evicted), and quorum is 2: the eviction of main-1 was admitted a moment ago, so without main-0 only 1 healthy voter would stay; wait until the evicted member is back"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0", UnderWay: []UnderWay{{Pod: "main-1"}}}).Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c = policytest.ClusterOf("vvv")
	want = "etcd cluster shoot/main: 2 of 3 voters are healthy (main-2 has no replica any more), and quorum is 2: without main-0 only 1 would stay; wait until the other members are healthy"
	if got := Evaluate(Facts{Cluster: c, Pod: "main-0", Removed: []string{"main-2"}}).Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
