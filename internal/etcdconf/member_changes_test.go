// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
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

// lifecycleOf returns the lifecycle of a container whose hook executes a command.
func lifecycleOf(hook string, argv []string) *corev1.Lifecycle {
	h := &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: argv}}
	if hook == PreStop {
		return &corev1.Lifecycle{PreStop: h}
	}
	return &corev1.Lifecycle{PostStart: h}
}

// TestHooksOutsideConfigMaps: what a hook's program does is not known if only the image or a volume has it.
func TestHooksOutsideConfigMaps(t *testing.T) {
	t.Parallel()
	for _, hook := range []string{PreStop, "postStart"} {
		t.Run(hook, func(t *testing.T) { t.Parallel(); hooksOutsideConfigMaps(t, hook) })
	}
}

func hooksOutsideConfigMaps(t *testing.T, hook string) {
	t.Helper()
	for _, row := range []struct {
		argv []string
		want string
	}{
		{[]string{"/opt/leave.sh"}, "/opt/leave.sh: no ConfigMap has it"},
		{[]string{"sh", "-e", "/opt/leave.sh"}, "/opt/leave.sh: no ConfigMap has it"},
		{[]string{"tini", "--", "leave"}, "leave: no ConfigMap has it"},
		{[]string{"/scripts/start.sh"}, ""},
		{[]string{"/scripts/gone.sh"}, "/scripts/gone.sh: no ConfigMap has it"},
		{[]string{"sh", "-c", "/opt/leave.sh"}, "/opt/leave.sh: no ConfigMap has it"},
		{[]string{"sh", "-c", "exec /opt/leave.sh"}, "/opt/leave.sh: no ConfigMap has it"},
		{[]string{"bash", "-ec", "sh /opt/leave.sh"}, "/opt/leave.sh: no ConfigMap has it"},
		{[]string{"sh", "-c", ". /opt/lib.sh; leave_cluster"}, "/opt/lib.sh: no ConfigMap has it"},
		{[]string{"sh", "-c", "sleep 5; /opt/leave.sh || true"}, "/opt/leave.sh: no ConfigMap has it"},
		{[]string{"python3", "/opt/leave.py"}, "/opt/leave.py: no ConfigMap has it"},
		{[]string{"sh", "-c", "/usr/bin/jq . < /tmp/a; /usr/local/bin/etcdctl endpoint health"}, ""},
		{[]string{"sh", "-c", "/scripts/start.sh"}, ""},
		{[]string{"sh", "-c", "echo /opt/leave.sh"}, ""},
		{[]string{"/bin/sleep", "5"}, ""},
		{[]string{"sh", "-c", "sleep 5"}, ""},
		{[]string{"etcdctl", "move-leader"}, ""},
	} {
		pod, contents := mountedPod("#!/bin/sh\nsleep 5", nil)
		c := &pod.Spec.Containers[0]
		c.Command, c.Lifecycle = []string{"/opt/start.sh"}, lifecycleOf(hook, row.argv)
		got := ""
		for _, m := range MemberChanges(pod, contents) {
			got += m.Unread
			if m.Hook != hook || !m.Elsewhere || m.AtStop() {
				t.Errorf("%q: %+v", row.argv, m)
			}
		}
		if got != row.want {
			t.Errorf("%q: %q, want %q", row.argv, got, row.want)
		}
		if all := MemberChanges(pod, nil); len(all) > 0 {
			t.Errorf("%q: without contents, %+v", row.argv, all)
		}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Lifecycle: lifecycleOf(hook, []string{"/wait-shutdown"})})
		c = &pod.Spec.Containers[0]
		c.Command, c.Lifecycle = []string{"etcd"}, nil
		if all := MemberChanges(pod, contents); len(all) > 0 {
			t.Errorf("the hook of another container: %+v", all)
		}
	}
}

// TestStartsOutsideConfigMaps: what the program that starts etcd does to members is not known if only the image or a
// volume has it.
func TestStartsOutsideConfigMaps(t *testing.T) {
	t.Parallel()
	const none = ": no ConfigMap has the program that starts etcd"
	for _, row := range []struct {
		argv     []string
		declared bool
		want     string
	}{
		{argv: []string{"/opt/start.sh"}, want: "/opt/start.sh" + none},
		{argv: []string{"tini", "--", "/opt/start.sh", "--debug"}, want: "/opt/start.sh" + none},
		{argv: []string{"/rendered/start.sh"}, want: "/rendered/start.sh" + none},
		{argv: nil, want: "the image decides which program it is"},
		{argv: []string{"/launcher", "run"}, declared: true, want: "/launcher" + none},
		{argv: []string{"bash", "/opt/start.sh"}, declared: true, want: "/opt/start.sh" + none},
		{argv: []string{"sh", "-c", "exec /launcher"}, declared: true, want: "sh" + none},
		{argv: []string{"etcd"}},
		{argv: []string{"sh", "-c", "exec etcd"}},
		{argv: []string{"sh", "-c", "/opt/join.sh; exec etcd"}, want: "/opt/join.sh: no ConfigMap has it"},
		{argv: []string{"sh", "-c", "sh /opt/join.sh; exec /usr/local/bin/etcd"}, want: "/opt/join.sh: no ConfigMap has it"},
		{argv: []string{"sh", "-c", ". /opt/settings.sh; exec etcd"}},
		{argv: []string{"sh", "-c", "/bin/chown etcd /data; exec etcd --data-dir=/data"}},
		{argv: []string{"/scripts/start.sh"}},
		{argv: []string{"start-etcd"}},
		{argv: []string{"/launcher"}},
	} {
		pod, contents := mountedPod("#!/bin/sh\nexec etcd", nil)
		c := &pod.Spec.Containers[0]
		c.Command = row.argv
		if len(row.argv) > 0 && row.argv[0] == wrapperArg {
			c.Command, c.Args = nil, row.argv
		}
		for _, name := range []string{"ETCD_NAME", "ETCD_LISTEN_CLIENT_URLS", "ETCD_LISTEN_PEER_URLS"} {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: "x"})
		}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "rendered", MountPath: "/rendered"})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "rendered", VolumeSource: written})
		if row.declared {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: c.Name}
		}
		var want []MemberChange
		if row.want != "" {
			want = []MemberChange{{Container: c.Name, Unread: row.want, Elsewhere: true}}
		}
		if got := MemberChanges(pod, contents); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", row.argv, got, want)
		}
		if all := MemberChanges(pod, nil); len(all) > 0 {
			t.Errorf("%q: without contents, %+v", row.argv, all)
		}
	}
}

// TestInitOutsideConfigMaps: what a container does before etcd starts is not known if only its image has the program.
func TestInitOutsideConfigMaps(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		argv []string
		want string
	}{
		{[]string{"/join.sh"}, "/join.sh: no ConfigMap has it"},
		{[]string{"sh", "-c", "cp /a /b && /join.sh"}, "/join.sh: no ConfigMap has it"},
		{[]string{"python3", "/join.py"}, "/join.py: no ConfigMap has it"},
		{[]string{"chown", "-R", "1000", "/data"}, ""},
		{[]string{"sysctl", "-w", "a=b"}, ""},
		{nil, ""},
	} {
		pod, contents := mountedPod("#!/bin/sh\nexec etcd", nil)
		pod.Spec.Containers[0].Command = []string{"etcd"}
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Command: row.argv}}
		got := ""
		for _, m := range MemberChanges(pod, contents) {
			got += m.Unread
		}
		if got != row.want {
			t.Errorf("%q: %q, want %q", row.argv, got, row.want)
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

// TestTraps: a command in a trap that runs when a script is to stop is one at its stop.
func TestTraps(t *testing.T) {
	t.Parallel()
	const remove = "etcdctl member remove $ID"
	for _, row := range []struct{ name, script, want string }{
		{"a function", "bye() { " + remove + "; kill $P; }; trap bye TERM; etcd & P=$!; wait", Trap},
		{"a text", "trap '" + remove + "' SIGTERM; etcd & wait", Trap},
		{"a function in a text", "bye() { " + remove + "; }; trap 'bye; exit' EXIT; etcd & wait", Trap},
		{"a function that it calls", "leave() { " + remove + "; }; bye() { leave; }; trap bye 0 2 15; etcd & wait", Trap},
		{"a shell that etcd replaces", "trap '" + remove + "' EXIT; exec etcd --name a", ""},
		{"a signal that no kubelet sends", "trap '" + remove + "' INT; etcd & wait", ""},
		{"another signal", "again() { " + remove + "; }; trap again USR1; etcd & wait", ""},
		{"a function that no trap calls", "leave() { " + remove + "; }; bye() { :; }; trap bye TERM; leave; etcd & wait", ""},
		{"a trap that is reset", "leave() { " + remove + "; }; trap - TERM; leave; etcd & wait", ""},
		{"before the trap", remove + "; bye() { :; }; trap bye TERM; etcd & wait", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", row.script}}}}}
		got := MemberChanges(pod, nil)
		at := slices.IndexFunc(got, func(m MemberChange) bool { return m.Verb == "remove" })
		if at < 0 || got[at].Hook != row.want || got[at].AtStop() != (row.want == Trap) || got[at].RemovesLeaving() || got[at].Perhaps != (row.want == Trap) {
			t.Errorf("%s: %+v, want the hook %q", row.name, got, row.want)
		}
	}
}
