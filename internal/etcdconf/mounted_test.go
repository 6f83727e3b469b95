// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// mountedPod returns a pod that executes /scripts/start.sh, and the ConfigMap s with it, other files
// and the variables of ConfigMap v.
func mountedPod(start string, more map[string]string) (*corev1.Pod, Contents) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a-0", Namespace: "n"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "etcd", Command: []string{"/scripts/start.sh"},
				VolumeMounts: []corev1.VolumeMount{{Name: "s", MountPath: "/scripts"}},
			}},
			Volumes: []corev1.Volume{{Name: "s", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}},
			}}},
		},
	}
	data := map[string][]byte{"start.sh": []byte(start)}
	for k, v := range more {
		data[k] = []byte(v)
	}
	return pod, func(kind, name string) (map[string][]byte, error) {
		if kind == "ConfigMap" && name == "s" {
			return data, nil
		}
		return nil, &MissingError{Kind: kind, Namespace: "n", Name: name}
	}
}

// TestMountedScripts reads scripts in the ways in which containers execute them.
func TestMountedScripts(t *testing.T) {
	t.Parallel()
	const start = "#!/bin/sh\nexec etcd --name a --data-dir \"$1\""
	lib := map[string]string{
		"lib.sh": "NAME=b\nrun() { exec etcd --name \"$NAME\"; }\nreturn 0", "app.sh": "#!/bin/sh\nexec /app",
		"check.sh": "#!/bin/sh\n[ -d /d ] || exit 1\nexit 0", "loop.sh": ". /scripts/loop.sh\n/scripts/loop.sh\nexec etcd --name l",
		"huge.sh": strings.Repeat("x ", script.MaxBytes), "quote.sh": "exec etcd 'a", "nul.sh": "\x00etcd\x00",
		"python.sh": "#!/usr/bin/python3\netcd\n",
	}
	type row struct {
		id, start string
		argv      []string
		want      Evidence
		name      string
		dir       string
	}
	for _, r := range []row{
		{id: "MS-97 a relative path", start: start, argv: []string{"./start.sh", "/d"}, want: Shown, name: "a", dir: "/scripts"},
		{id: "MS-98 a name for a shell", start: start, argv: []string{"sh", "start.sh", "/d"}, want: Shown, name: "a", dir: "/scripts"},
		{id: "MS-99 a name of PATH", start: start, argv: []string{"start.sh"}, dir: "/scripts"},
		{"MS-90 a relative path behind cd", start, []string{"sh", "-c", "cd /scripts && ./start.sh /d"}, Shown, "a", ""},
		{"MS-91 a name for a shell behind cd", start, []string{"sh", "-c", "cd /scripts; exec sh start.sh /d"}, Shown, "a", ""},
		{"MS-92 a relative path behind two cd", start, []string{"sh", "-c", "cd /scripts; cd /x; ./start.sh /d; exec /app etcd"}, NoEvidence, "", ""},
		{"MS-93 a name of PATH behind cd", start, []string{"sh", "-c", "cd /scripts; start.sh /d"}, NoEvidence, "", ""},
		{"MS-94 the input of a shell", start, []string{"sh", "-c", "sh < /scripts/start.sh"}, Hinted, "", ""},
		{"MS-95 a copy", start, []string{"sh", "-c", "cp /scripts/start.sh /tmp/p; sh /tmp/p"}, Hinted, "", ""},
		{"MS-96 a text that is evaluated", start, []string{"sh", "-c", `eval "$(cat /scripts/start.sh)"`}, Hinted, "", ""},
		{"MS-1 by its path", start, []string{"/scripts/start.sh", "/d"}, Shown, "a", ""},
		{"MS-2 by a shell", start, []string{"sh", "/scripts/start.sh", "/d"}, Shown, "a", ""},
		{"MS-3 by a shell with options", start, []string{"bash", "-eu", "-o", "pipefail", "/scripts/start.sh"}, Shown, "a", ""},
		{"MS-4 by a shell's -c", start, []string{"bash", "-c", "/scripts/start.sh /d"}, Shown, "a", ""},
		{"MS-5 by exec and a launcher", start, []string{"sh", "-c", "cd /\nexec nice -n 1 /scripts/start.sh /d"}, Shown, "a", ""},
		{"MS-6 behind a launcher", start, []string{"tini", "--", "/scripts/start.sh"}, Shown, "a", ""},
		{"MS-7 sourced", "", []string{"sh", "-c", ". /scripts/lib.sh\nrun"}, Shown, "b", ""},
		{"MS-8 sourced, and a variable of it", "", []string{"bash", "-c", "source /scripts/lib.sh; exec etcd --name $NAME"}, Shown, "b", ""},
		{"MS-9 sourced, and another program after it", "", []string{"sh", "-c", ". /scripts/lib.sh\nexec /app"}, Hinted, "", ""},
		{"MS-10 a check before it", "", []string{"sh", "-c", "/scripts/check.sh && exec etcd --name c"}, Shown, "c", ""},
		{"MS-11 a check that exits", "", []string{"sh", "-c", "/scripts/check.sh\nexec etcd --name c"}, Shown, "c", ""},
		{"MS-12 one branch runs another script", start, []string{"sh", "-c", "if x; then exec /scripts/app.sh; fi; exec /scripts/start.sh"}, Hinted, "", ""},
		{"MS-13 another script", "", []string{"/scripts/app.sh"}, NoEvidence, "", ""},
		{"MS-14 sources itself", "", []string{"sh", "/scripts/loop.sh"}, Shown, "l", ""},
		{"MS-15 too large", "", []string{"sh", "/scripts/huge.sh"}, NoEvidence, "", ""},
		{"MS-16 a quote that isn't closed", "", []string{"sh", "/scripts/quote.sh"}, Hinted, "", ""},
		{"MS-17 NULs", "", []string{"sh", "/scripts/nul.sh"}, NoEvidence, "", ""},
		{"MS-18 no shell", "", []string{"/scripts/python.sh"}, NoEvidence, "", ""},
		{"MS-19 a file that is gone", "", []string{"/scripts/gone.sh"}, NoEvidence, "", ""},
		{"MS-20 a file of the image", "", []string{"/bin/start.sh"}, NoEvidence, "", ""},
		{"MS-21 eval", "", []string{"sh", "-c", "eval 'exec etcd --name e'"}, Shown, "e", ""},
		{"MS-22 a shell in a shell", "", []string{"sh", "-c", "exec bash -c 'exec etcd --name f'"}, Shown, "f", ""},
		{"MS-23 the program is an argument", "#!/bin/sh\nset -e\nexec \"$@\"", []string{"/scripts/start.sh", "etcd", "--name", "g"}, Shown, "g", ""},
		{"MS-24 the program is an argument of a script's", "#!/bin/sh\nexec \"$@\"", []string{"sh", "-c", "exec /scripts/start.sh \"$@\" --name h", "sh", "etcd"}, Shown, "h", ""},
		{"MS-25 the script is an argument", start, []string{"sh", "-c", "exec \"$@\"", "sh", "/scripts/start.sh", "/d"}, Shown, "a", ""},
		{"MS-26 the program is one of a sourced file's", "exec \"$@\"", []string{"sh", "-c", ". /scripts/start.sh", "sh", "etcd", "--name", "i"}, Shown, "i", ""},
		{"MS-27 a sourced file has its own in some shells", "exec \"$@\"", []string{"sh", "-c", ". /scripts/start.sh /app", "sh", "etcd"}, NoEvidence, "", ""},
		{"MS-28 another program is an argument", "#!/bin/sh\nexec \"$@\"", []string{"/scripts/start.sh", "/app", "etcd"}, NoEvidence, "", ""},
	} {
		pod, contents := mountedPod(r.start, lib)
		pod.Spec.Containers[0].Command, pod.Spec.Containers[0].WorkingDir = r.argv, r.dir
		if got := evidenceIn(pod, contents); got != r.want {
			t.Errorf("%s: evidence %d, want %d", r.id, got, r.want)
		}
		if r.want != Shown {
			continue
		}
		config, err := ParsePod(pod, contents)
		if err != nil || config.Name != r.name {
			t.Errorf("%s: name %q, error %v; want %q", r.id, config.Name, err, r.name)
		}
	}
}

// TestMountedAsInline holds that a mounted script gives what the same text gives inline.
func TestMountedAsInline(t *testing.T) {
	t.Parallel()
	for _, script := range scripts {
		sameAsInline(t, script)
	}
}

// scripts are the seeds of the fuzz target.
var scripts = []string{
	"exec etcd --name a", "etcd", "if x; then exec etcd; fi; sleep infinity", "run() { etcd; }\nsleep 1", "exit 0\netcd",
	"case $1 in etcd) exec etcd ;; *) exec \"$@\" ;; esac", "(exec app); etcd", "eval etcd", "sh -c 'etcd' &\nwait", ". /scripts/start.sh", "exec /scripts/start.sh; exit",
	"cat <<E | sh -c 'etcd'\nx\nE", "\x00etcd", "etcd 'a", "while true; do etcd member; done", "A=etcd; $A --name $A", "return; etcd", "{ return; }; etcd",
	"etcdctl member remove $(hostname)", "rm -rf ${ETCD_DATA_DIR}/*", "E='nice etcd --name a'; exec $E", "A='$A' eval \"$A etcdctl member add $B\"", "N=; $N",
	". /scripts/gone.sh; sh <<E\netcdctl member add a\nE", "cd $DATA_DIR; ls | xargs rm -rf", "sh -c $X \"\" etcd", "A='x y'; sh $A -c \"etcd $A\" $A b",
}

func sameAsInline(t *testing.T, script string) {
	t.Helper()
	mounted, contents := mountedPod(script, nil)
	c := &mounted.Spec.Containers[0]
	c.Command = []string{"sh", "/scripts/start.sh"}
	inline := mounted.DeepCopy()
	// A script with a reference of Kubernetes' would be expanded only where it is inline.
	inline.Spec.Containers[0].Command = []string{"sh", "-c", strings.ReplaceAll(script, "$", "$$"), "/scripts/start.sh"}
	if a, b := evidenceIn(mounted, contents), evidenceIn(inline, contents); a != b {
		t.Errorf("%q: evidence %d mounted, and %d inline", script, a, b)
	}
	if diff := cmp.Diff(MemberChanges(inline, contents), MemberChanges(mounted, contents)); diff != "" {
		t.Errorf("%q: changes of members (-inline +mounted):\n%s", script, diff)
	}
	a, aErr := ParsePod(mounted, contents)
	b, bErr := ParsePod(inline, contents)
	a.Where, b.Where = nil, nil
	if diff := cmp.Diff(b, a); diff != "" || (aErr == nil) != (bErr == nil) {
		t.Errorf("%q: configuration, errors %v and %v (-inline +mounted):\n%s", script, bErr, aErr, diff)
	}
}

// FuzzMountedScript holds that no script makes its reader panic, that a mounted script is read like
// the same text inline, and that a script which never has the word etcd, nor a variable that could be a
// part of it, shows none.
func FuzzMountedScript(f *testing.F) {
	for _, s := range scripts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if !strings.Contains(script, "$$") {
			sameAsInline(t, script)
		}
		pod, contents := mountedPod("#!/bin/sh\n"+script, nil)
		if evidenceIn(pod, contents) == Shown && !strings.Contains(script, "=") && !strings.Contains(unquoted.Replace(script), "etcd") {
			t.Errorf("%q shows etcd", script)
		}
	})
}

// unquoted removes what a shell removes from a word.
var unquoted = strings.NewReplacer("\\\n", "", `"`, "", "'", "", `\`, "", "$", "")

// TestEnvFromEvidence reads the variables of envFrom as evidence.
func TestEnvFromEvidence(t *testing.T) {
	t.Parallel()
	ref := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	config := corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("c")}}
	contents := func(kind, name string) (map[string][]byte, error) {
		switch kind + " " + name {
		case "ConfigMap c":
			return map[string][]byte{"ETCD_NAME": []byte("a"), "ETCD_LISTEN_CLIENT_URLS": []byte("http://0.0.0.0:2379"), "BIN": []byte("/usr/bin/etcd")}, nil
		case "ConfigMap d":
			return map[string][]byte{"NAME": []byte("b"), "LISTEN_PEER_URLS": []byte("http://0.0.0.0:2380")}, nil
		case "Secret s":
			return map[string][]byte{"ETCD_INITIAL_ADVERTISE_PEER_URLS": []byte("x"), "ETCD_NAME": []byte("c")}, nil
		}
		return nil, &MissingError{Kind: kind, Name: name}
	}
	prefixed := corev1.EnvFromSource{Prefix: "ETCD_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("d")}}
	secret := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref("s")}}
	gone := corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("gone"), Optional: new(true)}}
	for _, row := range []struct {
		id   string
		from []corev1.EnvFromSource
		env  []corev1.EnvVar
		argv []string
		want Evidence
		name string
	}{
		{"EF-1 a ConfigMap", []corev1.EnvFromSource{config}, nil, nil, Shown, "a"},
		{"EF-2 a prefix", []corev1.EnvFromSource{prefixed}, nil, nil, Shown, "b"},
		{"EF-3 a Secret", []corev1.EnvFromSource{secret}, nil, nil, Shown, "c"},
		{"EF-4 the later one wins", []corev1.EnvFromSource{config, prefixed}, nil, nil, Shown, "b"},
		{"EF-5 env wins", []corev1.EnvFromSource{prefixed, config}, []corev1.EnvVar{{Name: "ETCD_NAME", Value: "e"}}, nil, Shown, "e"},
		{"EF-6 an optional one that is gone", []corev1.EnvFromSource{config, gone}, nil, nil, Shown, "a"},
		{"EF-7 only one that is gone", []corev1.EnvFromSource{gone}, nil, nil, NoEvidence, ""},
		{"EF-8 the program's name", []corev1.EnvFromSource{config}, nil, []string{"sh", "-c", "exec $BIN"}, Shown, "a"},
		{"EF-9 the program's name as Kubernetes expands it", []corev1.EnvFromSource{config}, nil, []string{"$(BIN)"}, Shown, "a"},
		{"EF-10 another program", []corev1.EnvFromSource{config}, nil, []string{"sleep", "infinity"}, Hinted, ""},
		{"EF-11 another program, for which no Secret is read", []corev1.EnvFromSource{secret}, nil, []string{"sleep", "infinity"}, NoEvidence, ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: row.argv, Env: row.env, EnvFrom: row.from}}}}
		if got := evidenceIn(pod, contents); got != row.want {
			t.Errorf("%s: evidence %d, want %d", row.id, got, row.want)
		}
		if evidenceIn(pod, nil) == Shown {
			t.Errorf("%s: shown without the objects", row.id)
		}
		if row.want != Shown {
			continue
		}
		if config, err := ParsePod(pod, contents); err != nil || config.Name != row.name {
			t.Errorf("%s: name %q, error %v; want %q", row.id, config.Name, err, row.name)
		}
	}
}
