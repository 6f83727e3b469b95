// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

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
			if m.Perhaps = true; m.RemovesLeaving() {
				t.Errorf("hook %q, verb %q: a command that perhaps runs surely removes members", hook, verb)
			}
			m.Perhaps = false
			if m.Unclear = true; m.RemovesLeaving() {
				t.Errorf("hook %q, verb %q: an unclear command surely removes members", hook, verb)
			}
		}
		if (MemberChange{Hook: hook, Unread: "x"}).AtStop() {
			t.Errorf("hook %q: a script that can't be read counts as a removal of data", hook)
		}
	}
}

// TestOptionsOfAnotherCommand holds that the options of the shell that starts a container are not those of
// the script of its hook.
func TestOptionsOfAnotherCommand(t *testing.T) {
	t.Parallel()
	pod, contents := mountedPod("#!/bin/sh\ntest -e /x\netcdctl member remove $ID", nil)
	c := &pod.Spec.Containers[0]
	c.Command = []string{"sh", "-ec", "exec etcd"}
	c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/scripts/start.sh"}}}}
	if got := MemberChanges(pod, contents); len(got) != 1 || !got[0].RemovesLeaving() {
		t.Errorf("%+v, want a removal that surely happens", got)
	}
}
