// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// TestOrderByID: a node was set up again with its name, so etcd lists two members of that name. The
// command is about the one that is dead.
func TestOrderByID(t *testing.T) {
	t.Parallel()
	f := healthy(3)
	kubeadm(f)
	f.Survey.Value.List = append([]etcd.Listed{{ID: 9, Name: podName(1), PeerURLs: []string{"https://10.0.0.9:2380"}}}, f.Survey.Value.List...)
	f.Silences = map[uint64]membership.Silence{9: {Contact: membership.ContactNone}}
	f.MayRemove[9] = policy.Allow(policy.QuorumKept, "")
	const dead = "0000000000000009"
	if !slices.ContainsFunc(f.Recovery().Members, func(m recovery.Member) bool { return m.Name == dead && m.Removable }) {
		t.Errorf("no dead member %s in %+v", dead, f.Recovery().Members)
	}
	for _, r := range []struct {
		do         recovery.Do
		name, want string
	}{
		{recovery.RemoveMember, dead, f.Command("member remove", dead)},
		{recovery.Promote, podName(2), f.Command("proxy") + " -- etcdctl member promote 0000000000000003"},
	} {
		if got := f.Order(recovery.Action{Do: r.do, Member: r.name}); got != r.want {
			t.Errorf("%s %s: got %q, want %q", r.do, r.name, got, r.want)
		}
	}
}

// TestAlarmOrder: a diagnosis of healthy members has an alarm, and gives the fix of the check.
func TestAlarmOrder(t *testing.T) {
	t.Parallel()
	stray := []etcd.Alarm{{MemberID: 9, Type: "NOSPACE"}}
	for name, row := range map[string]struct {
		with func(*Facts)
		want string
	}{
		"NOSPACE":                  {func(f *Facts) { f.Survey.Value.Members[1].Alarms = []string{"NOSPACE"} }, "kubectl etcd defrag statefulset/main -n team"},
		"CORRUPT":                  {func(f *Facts) { f.Survey.Value.Members[1].Alarms = []string{"CORRUPT"} }, "kubectl etcd check statefulset/main --only D004 -n team"},
		"of a member that is gone": {func(f *Facts) { f.Survey.Value.Strays = stray }, "kubectl etcd defrag statefulset/main -n team"},
	} {
		f := healthy(3)
		row.with(f)
		first := recovery.Diagnose(f.Recovery()).Scenarios[0]
		if got := f.Order(first.Action); got != row.want || (first.ID == "X-19") != (row.want != "") {
			t.Errorf("%s: %s with %q, want %q", name, first.ID, got, row.want)
		}
	}
}

// TestWhy: the commands in the reason for an action are those for this cluster, in every form.
func TestWhy(t *testing.T) {
	t.Parallel()
	f := healthy(3)
	f.Flags, f.Login = " --context desk", " --cert a.crt"
	const flags = "statefulset/main -n team --context desk --cert a.crt"
	for _, r := range []struct {
		do         recovery.Do
		text, want string
	}{
		{recovery.InspectPod, "kubectl etcd recover NAME restores it", "kubectl etcd recover " + flags + " restores it"},
		{recovery.InspectPod, "kubectl etcd recover NAME --lost main-1 restores it", "kubectl etcd recover " + flags + " --lost main-1 restores it"},
		{recovery.InspectPod, "kubectl etcd snapshot save NAME FILE saves it", "kubectl etcd snapshot save " + flags + " main.db saves it"},
		{recovery.ListSnapshots, "kubectl etcd snapshot restore FILE NAME.", "kubectl etcd snapshot restore FILE " + flags + "."},
		{recovery.SaveSnapshot, "kubectl etcd snapshot restore FILE NAME restores it", "kubectl etcd snapshot restore main.db " + flags + " restores it"},
		{recovery.SaveSnapshot, "kubectl etcd snapshot restore FILE statefulset/OTHER.", "kubectl etcd snapshot restore main.db statefulset/OTHER."},
	} {
		r.text += ". container etcd: no NAME or FILE"
		r.want += ". container etcd: no NAME or FILE"
		if got := f.Why(recovery.Action{Do: r.do, Why: r.text}); got != r.want {
			t.Errorf("%q, want %q", got, r.want)
		}
	}
}
