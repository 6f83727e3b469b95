// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// wrongURL has a peer URL of main-2 in etcd's list that is not its.
func wrongURL(f *Facts) {
	f.Survey.Value.List[2].PeerURLs = []string{"http://wrong:2380"}
	f.PeerURLs = map[uint64]Got[peers.Lead]{3: {Value: peers.Lead{Wrong: []string{"no Service and no host alias has the name wrong"}, Advertised: []string{"http://main-2.main.team.svc:2380"}}}}
}

const updates = "kubectl etcd proxy statefulset/main -n team -- etcdctl member update 0000000000000003 --peer-urls=http://main-2.main.team.svc:2380"

func TestPeerURLs(t *testing.T) {
	t.Parallel()
	with := func(also func(*Facts)) func(*Facts) { return func(f *Facts) { wrongURL(f); also(f) } }
	judge(t, []row{
		{name: "all lead to their pods", id: "M009", want: OK},
		{name: "of one it is not known", id: "M009", with: func(f *Facts) {
			f.PeerURLs = map[uint64]Got[peers.Lead]{3: {Err: errors.New("the peer address lb is that of a Service")}}
		}, want: OK},
		{name: "a single member", id: "M009", size: 1, want: NotApplicable},
		{name: "wrong", id: "M009", with: wrongURL, want: Warning, fix: updates,
			message: "main-2: the peer URL http://wrong:2380 in etcd's list does not lead to its pod, which advertises http://main-2.main.team.svc:2380: no Service and no host alias has the name wrong."},
		{name: "wrong, of a member that is down", id: "M009", with: with(pod(2, crashing)), want: Warning, fix: updates},
		{name: "wrong, and the pod advertises IPv6", id: "M009", with: with(func(f *Facts) {
			f.PeerURLs[3].Value.Advertised[0] = "http://[fd00::7]:2380"
		}), want: Warning, fix: "member update 0000000000000003 --peer-urls='http://[fd00::7]:2380'"},
		{name: "wrong while it scales", id: "M009", with: with(scaling), want: Info, fix: "once the change that is under way has ended, " + updates},
		{name: "wrong while a change is unfinished", id: "M009", with: with(func(f *Facts) {
			f.UnderWay.Value = &output.UnderWay{Operation: "scale", Interrupted: true, Commands: []string{"kubectl etcd scale statefulset/main --replicas 5 -n team"}}
		}), want: Warning, fix: "kubectl etcd scale statefulset/main --replicas 5 -n team"},
		{name: "wrong, of a learner", id: "M009", with: with(func(f *Facts) { f.Survey.Value.List[2].Learner = true }), want: Warning,
			fix: "promote or remove this learner, since an update would make it a voter in etcd's list: kubectl etcd member list statefulset/main -n team"},
		{name: "wrong, of etcd-druid", id: "M009", with: with(owners["druid"]), want: Warning, fix: "unless etcd-druid corrects it: kubectl etcd proxy etcd/main -n team -- etcdctl member update 0000000000000003"},
		{name: "wrong, of a script that changes members", id: "M009", with: with(changesMembers(etcdconf.MemberChange{Container: "etcd", Verb: "update"})), want: Warning,
			fix: "unless the start script of container etcd (etcdctl member update) corrects it: " + updates},
		{name: "wrong, of a start script that corrects it", id: "M009", with: with(func(f *Facts) { f.Owner.Distribution = flavour.Bitnami }), want: Warning,
			fix: "the members' start script corrects it when the pod restarts: kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "wrong, of a static pod", id: "M009", with: with(kubeadm), want: Warning, fix: "-- etcdctl member update 0000000000000003"},
	})
}

// TestPeerURLOrder: a diagnosis of healthy members has the wrong peer URL, and gives the fix of the check.
func TestPeerURLOrder(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		with func(*Facts)
		want string
	}{
		"wrong":                 {wrongURL, updates},
		"wrong, of a learner":   {func(f *Facts) { wrongURL(f); f.Survey.Value.List[2].Learner = true }, ""},
		"wrong, in an old list": {func(f *Facts) { wrongURL(f); f.Survey.Value.ListErr = errRefused }, ""},
		"right":                 {func(*Facts) {}, ""},
	} {
		f := healthy(3)
		row.with(f)
		first := recovery.Diagnose(f.Recovery()).Scenarios[0]
		if got := f.Order(first.Action); (first.ID == "X-20") != (row.want != "") || row.want != "" && got != row.want {
			t.Errorf("%s: %s with %q, want %q", name, first.ID, got, row.want)
		}
	}
}
