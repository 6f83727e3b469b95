// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestUnreadScripts holds that a mounted script which can't be read is never taken for one that changes
// no members, for each reason and each way to start it.
func TestUnreadScripts(t *testing.T) {
	t.Parallel()
	fails := func(err error) Contents {
		return func(string, string) (map[string][]byte, error) { return nil, err }
	}
	has := func(data map[string]string) Contents {
		return func(string, string) (map[string][]byte, error) {
			out := map[string][]byte{}
			for k, v := range data {
				out[k] = []byte(v)
			}
			return out, nil
		}
	}
	starts := map[string][]string{
		"its path": {"/scripts/start.sh"}, "a shell": {"sh", "/scripts/start.sh"}, "a launcher": {"tini", "--", "/scripts/start.sh", "a"},
		"a script": {"sh", "-c", "cd / && exec /scripts/start.sh; exit"}, "a shell in a script": {"sh", "-c", "bash /scripts/start.sh"},
		"source": {"sh", "-c", ". /scripts/start.sh\nexec etcd"}, "a constant": {"sh", "-c", "S=/scripts\n\"$S/start.sh\""},
	}
	for reason, row := range map[string]struct {
		contents Contents
		want     string
	}{
		"no permission":    {fails(errors.New(`configmaps "s" is forbidden`)), `configmaps "s" is forbidden`},
		"gone":             {fails(&MissingError{Kind: "ConfigMap", Namespace: "n", Name: "s"}), "ConfigMap n/s does not exist"},
		"too many objects": {fails(errors.New("too many objects were read")), "too many objects"},
		"too large":        {has(map[string]string{"start.sh": "#!/bin/sh\n" + strings.Repeat("x\n", 64<<10)}), "more than 128 KiB"},
	} {
		for how, argv := range starts {
			pod, _ := mountedPod("", nil)
			c := &pod.Spec.Containers[0]
			c.Command, c.Lifecycle = argv, &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: argv}}}
			got := MemberChanges(pod, row.contents)
			if len(got) != 2 || got[0].Hook != "" || got[1].Hook != PreStop {
				t.Errorf("%s, by %s: %v", reason, how, got)
				continue
			}
			for _, m := range got {
				if !strings.Contains(m.Unread, row.want) || !strings.Contains(m.Unread, "/scripts/start.sh") || !strings.Contains(m.Command(), "can't be read") {
					t.Errorf("%s, by %s: %q", reason, how, m.Unread)
				}
			}
			if none := MemberChanges(pod, nil); len(none) > 0 {
				t.Errorf("without the objects: %v", none)
			}
		}
	}
}

// TestPartlyReadScripts has scripts that are read, and files that they execute and that are not.
func TestPartlyReadScripts(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"mistake.sh": "etcdctl member add 'a", "python.sh": "#!/usr/bin/python3\nrun([\"etcdctl\", \"member\", \"remove\", id])", "other.py": "#!/usr/bin/python3\nprint()",
	}
	var many strings.Builder
	for i := range maxMountedFiles {
		all[fmt.Sprintf("%d.sh", i)] = ":"
		fmt.Fprintf(&many, ". /scripts/%d.sh; . /scripts/%d.sh\n", i, i)
	}
	for _, row := range []struct{ id, script, want string }{
		{"UR-1 as many files as are read", many.String(), ""},
		{"UR-2 one more", many.String() + ". /scripts/start.sh", "more than 16 scripts"},
		{"UR-3 a script that can't be parsed", ". /scripts/mistake.sh", "has a mistake"},
		{"UR-4 another language", "/scripts/python.sh", ""},
		{"UR-5 a key that isn't there", "[ -f /scripts/no.sh ] && . /scripts/no.sh; exec etcd", ""},
		{"UR-6 programs of the image", strings.Repeat("/usr/bin/true; ", 40) + "/opt/start.sh", ""},
		{"UR-7 settings of a Secret", ". /secret/env.sh; exec etcd", ""},
		{"UR-8 a script of a Secret", "exec /secret/start.sh", "only read from ConfigMaps"},
		{"UR-9 a claim", "exec /data/start.sh", ""},
		{"UR-10 itself", ". /scripts/start.sh; exec etcd", ""},
	} {
		pod, contents := mountedPod("", all)
		c := &pod.Spec.Containers[0]
		c.Command = []string{"sh", "-c", row.script}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "secret", MountPath: "/secret"}, corev1.VolumeMount{Name: "data", MountPath: "/data"})
		pod.Spec.Volumes = append(pod.Spec.Volumes,
			corev1.Volume{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x"}}},
			corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "x"}}})
		got := MemberChanges(pod, contents)
		if (row.want != "") != (len(got) == 1) || row.want != "" && !strings.Contains(got[0].Unread, row.want) {
			t.Errorf("%s: %v, want %q", row.id, got, row.want)
		}
	}
	pod, contents := mountedPod("", all)
	for file, want := range map[string]string{"python.sh": "remove", "other.py": ""} {
		pod.Spec.Containers[0].Command = []string{"/scripts/" + file}
		if got := MemberChanges(pod, contents); want != "" && (len(got) != 1 || got[0].Verb != want || !got[0].Unclear) || want == "" && len(got) > 0 {
			t.Errorf("%s: %v, want %q", file, got, want)
		}
	}
}
