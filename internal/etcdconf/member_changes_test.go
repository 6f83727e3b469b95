// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestMemberChanges has scripts that change members, and similar commands. Lines are separated by ¦.
func TestMemberChanges(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ id, script, want string }{
		{"MC-1 add", "etcdctl member add $N --peer-urls=x¦exec etcd", "add"},
		{"MC-2 remove in a condition", "if x; then etcdctl --endpoints $E member remove $ID; fi¦exec etcd", "remove"},
		{"MC-3 update and its flags apart", "etcdctl --endpoints=x member --dial-timeout=1s update a¦exec etcd", "update"},
		{"MC-4 promote in a substitution", "X=$(etcdctl member promote $ID)¦exec etcd", "promote"},
		{"MC-5 in a function", "join() { etcdctl member add a; }¦join¦exec etcd", "add"},
		{"MC-6 by a function of its own", `ctl() { etcdctl --cacert=x "$@"; }¦ctl member add a¦exec etcd`, "add"},
		{"MC-7 behind launchers", "timeout 5 env ETCDCTL_API=3 /usr/bin/etcdctl member remove a¦exec etcd", "remove"},
		{"MC-8 by a variable", "$CTL member remove a¦exec etcd", "remove"},
		{"MC-9 in a pipe and a list", "true && etcdctl member add a | tee /x¦exec etcd", "add"},
		{"MC-10 eval", "eval 'etcdctl member add a'¦exec etcd", "add"},
		{"MC-11 a shell in the script", "sh -c 'etcdctl member add a'¦exec etcd", "add"},
		{"MC-12 several", "etcdctl member remove a¦etcdctl member add b¦etcdctl member add c¦exec etcd", "remove add"},
		{"MC-13 a script with a mistake", "etcdctl member add a¦if", "add? add"},
		{"MC-14 the variable of the data", `rm -rf "$ETCD_DATA_DIR"/*¦exec etcd`, "wipe"},
		{"MC-15 the variable, with braces", "rm -fr ${ETCD_DATA_DIR:-/d}¦exec etcd", "wipe"},
		{"MC-16 the folder", "rm -r /var/lib/etcd/member¦exec etcd --data-dir /var/lib/etcd", "wipe"},
		{"MC-17 the folder above it", "rm -rf /var/lib/*¦exec etcd --data-dir=/var/lib/etcd/${HOSTNAME}.etcd", "wipe"},
		{"MC-18 find", "find /var/lib/etcd -mindepth 1 -delete¦exec etcd --data-dir /var/lib/etcd", "wipe"},

		{"MC-20 list", "until etcdctl member list; do sleep 1; done¦exec etcd", ""},
		{"MC-21 health", "etcdctl endpoint health¦exec etcd", ""},
		{"MC-22 a message", "echo etcdctl member remove a¦exec etcd", ""},
		{"MC-23 a comment", "# etcdctl member remove a¦exec etcd", ""},
		{"MC-24 a text", "cat <<E¦etcdctl member remove a¦E¦exec etcd", ""},
		{"MC-25 a member called add", "etcdctl get member-add¦exec etcd", ""},
		{"MC-26 of another program", "vault member add a¦exec etcd", ""},
		{"MC-27 lost+found", "rm -rf /var/lib/etcd/lost+found $ETCD_DATA_DIR/lost+found¦exec etcd --data-dir /var/lib/etcd", ""},
		{"MC-28 another folder", "rm -rf /tmp/x /var/lib/etcd-old¦exec etcd --data-dir /var/lib/etcd", ""},
		{"MC-29 a file", "rm -f /var/lib/etcd/member/x.tmp¦exec etcd --data-dir /var/lib/etcd", ""},
	} {
		script := strings.ReplaceAll(row.script, "¦", "\n")
		inline := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"sh", "-c", script}}}}}
		mounted, contents := mountedPod("#!/bin/sh\n"+script, nil)
		hook := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Command:   []string{"etcd", "--data-dir", "/var/lib/etcd"},
			Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-ec", script}}}},
		}}}}
		for name, got := range map[string][]MemberChange{
			"inline": MemberChanges(inline, nil), "mounted": MemberChanges(mounted, contents), "hook": MemberChanges(hook, nil),
		} {
			var args []string
			for _, m := range got {
				word := m.Verb
				if m.Verb == "" {
					word = "wipe"
				}
				if m.Unclear {
					word += "?"
				}
				if (m.Hook == PreStop) != (name == "hook") {
					t.Errorf("%s, %s: hook %q", row.id, name, m.Hook)
				}
				args = append(args, word)
			}
			if strings.Join(args, " ") != row.want {
				t.Errorf("%s, %s: %q, want %q", row.id, name, args, row.want)
			}
		}
	}
	direct := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Command: []string{"etcdctl", "member", "remove", "a"}}}}}
	if got := MemberChanges(direct, nil); len(got) != 1 || got[0].Where()+": "+got[0].Command() != "the start script of container a: etcdctl member remove" {
		t.Errorf("without a shell: %v", got)
	}
}

// TestMemberChangeKinds holds that a member leaves only by its removal or that of its data, before its
// pod stops, and that only a clear removal surely removes it.
func TestMemberChangeKinds(t *testing.T) {
	t.Parallel()
	for _, hook := range []string{"", "postStart", PreStop} {
		for _, verb := range []string{"", "add", "remove", "update", "promote"} {
			m := MemberChange{Container: "a", Hook: hook, Verb: verb}
			if want := hook == PreStop && (verb == "remove" || verb == ""); m.AtStop() != want {
				t.Errorf("hook %q, verb %q: at its stop %t, want %t", hook, verb, m.AtStop(), want)
			}
			if want := hook == PreStop && verb == "remove"; m.RemovesLeaving() != want {
				t.Errorf("hook %q, verb %q: removes %t, want %t", hook, verb, m.RemovesLeaving(), want)
			}
			if m.Unclear = true; m.RemovesLeaving() {
				t.Errorf("hook %q, verb %q: an unclear command surely removes members", hook, verb)
			}
		}
	}
}
