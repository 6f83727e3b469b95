// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestCuresWhileUnfinished: while an operation is unfinished, no cure is a command that is refused then.
func TestCuresWhileUnfinished(t *testing.T) {
	t.Parallel()
	const scale = "kubectl etcd scale statefulset/main --replicas 5 -n team"
	unfinished := func(f *Facts) {
		f.UnderWay.Value = &output.UnderWay{Operation: "scale", Change: "scale from 3 to 5 members", Interrupted: true, Commands: []string{scale, scale + " --abort"}}
	}
	away := func(f *Facts) { unfinished(f); f.KeepsClientsAway = true }
	running := func(f *Facts) { f.UnderWay.Value = &output.UnderWay{Operation: "scale", Holder: "ann@laptop"} }
	member := func(host string) etcd.Listed {
		return etcd.Listed{ID: 9, Name: host, PeerURLs: []string{"http://" + host + ".main:2380"}}
	}
	dead := func(f *Facts, l etcd.Listed) {
		f.Survey.Value.List = append(f.Survey.Value.List, l)
		f.MayRemove[l.ID] = policy.Verdict{Allowed: true}
		f.Silences = map[uint64]membership.Silence{l.ID: {Contact: membership.ContactNone}}
	}
	for _, row := range []struct {
		name string
		set  func(*Facts)
		cure func(*Facts) string
		want string
	}{
		{"defrag", unfinished, (*Facts).defrag, scale},
		{"defrag, idle", func(*Facts) {}, (*Facts).defrag, "kubectl etcd defrag statefulset/main -n team"},
		{"defrag, running", running, (*Facts).defrag, "once the change that is under way has ended, kubectl etcd defrag statefulset/main -n team"},
		{"restore client traffic, scale", unfinished, (*Facts).restoreTraffic, "kubectl etcd restore-client-traffic statefulset/main -n team"},
		{"restore client traffic", away, (*Facts).restoreTraffic, scale},
		{"restore client traffic, running", func(f *Facts) { running(f); f.KeepsClientsAway = true }, (*Facts).restoreTraffic,
			"once the operation that is under way has ended, kubectl etcd restore-client-traffic statefulset/main -n team"},
		{"replace", unfinished, func(f *Facts) string { return f.replace("main-1") }, scale},
		{"promote", unfinished, func(f *Facts) string { return f.promote(f.Survey.Value.List[1]) }, scale},
		{"remove a member of a pod that may come", unfinished, func(f *Facts) string { l := member("main-4"); dead(f, l); return f.toRemove(l) }, scale},
		{"remove a member of no pod", unfinished, func(f *Facts) string { l := member("old"); dead(f, l); return f.toRemove(l) },
			"kubectl etcd member remove statefulset/main 0000000000000009 -n team"},
	} {
		f := healthy(3)
		row.set(f)
		if got := row.cure(f); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
