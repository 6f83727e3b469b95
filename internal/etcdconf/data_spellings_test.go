// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// spelledVariables are of all containers of the pod e-0.
var spelledVariables = []corev1.EnvVar{
	{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
	{Name: "BASE", Value: "/data"},
	{Name: "D", Value: "$(BASE)/$(POD_NAME)"},
	{Name: "OTHER", Value: "$(BASE)/cache"},
	{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
}

// TestSpellingsOfFolders: whatever a folder is called where etcd gets it, and whatever where it is deleted, each
// command of the pod that deletes it is found, and none that deletes another one.
func TestSpellingsOfFolders(t *testing.T) {
	t.Parallel()
	starts := []corev1.Container{
		{Command: []string{"sh", "-c", "exec etcd"}, Env: []corev1.EnvVar{{Name: "ETCD_DATA_DIR", Value: "/data/$(POD_NAME)"}}},
		{Command: []string{"sh", "-c", "exec etcd"}, Env: []corev1.EnvVar{{Name: "ETCD_CONFIG_FILE", Value: "/conf/$(POD_NAME).yaml"}}},
		{Command: []string{"etcd", "--data-dir=/data/$(POD_NAME)"}},
		{Command: []string{"etcd"}, Args: []string{"--data-dir", "$(D)"}},
		{Command: []string{"sh", "-c", "exec etcd --data-dir=/data/$(POD_NAME)"}},
		{Command: []string{"sh", "-c", "exec etcd --data-dir=/data/$POD_NAME"}},
		{Command: []string{"sh", "-c", `exec etcd --data-dir "${BASE}/${POD_NAME}"`}},
		{Command: []string{"sh", "-c", "exec etcd --data-dir=$D"}},
		{Command: []string{"sh", "-c", "exec etcd --data-dir=/data/$(hostname)"}},
		{Command: []string{"sh", "-c", "export ETCD_DATA_DIR=/data/$HOSTNAME; exec etcd"}},
		{Command: []string{"sh", "-c", "N=$POD_NAME; if [ -e /x ]; then exec etcd --data-dir=/data/$N; fi; exec etcd --data-dir=/tmp/$N"}},
	}
	removals := []string{
		"rm -rf /data/e-0", "rm -rf /data/$(POD_NAME)", "rm -rf /data/$(POD_NAME)/member", "rm -rf /data/$POD_NAME", `rm -rf "/data/${POD_NAME}"`,
		`rm -rf "$BASE/$POD_NAME"/member/*`, "rm -rf $D", `rm -rf "${D}/member"`, "rm -rf /data/$(hostname)", "rm -rf /data/`hostname`/*", "rm -rf /data/$HOSTNAME/member",
		"X=/data/$POD_NAME; rm -rf $X", `X=$D; rm -rf "$X/member"`, "f() { rm -rf $1; }; f /data/$POD_NAME", "cd /data/$POD_NAME && rm -rf ./*", "find $D -mindepth 1 -delete",
		`sh -c "rm -rf /data/$POD_NAME"`, "for f in /data/$POD_NAME/*; do rm -rf $f; done", "mv /data/${POD_NAME} /data/old", "rm -rf /data/./$POD_NAME/", "rm -rf $BASE",
	}
	others := []string{
		"rm -rf /data/e-1", "rm -rf /data/$(POD_NAME)-old", "rm -rf /data/cache/$POD_NAME", "rm -rf $OTHER", `rm -rf "$OTHER/x"`, "rm -rf $D/lost+found", "rm -rf $D-old",
		"mv /data/old $OTHER", "rm -rf /data/$CPU", "rm -rf $CPU/x", "rm -rf /data/$(date)", "ls $D; echo rm -rf $D",
	}
	wipes := func(start corev1.Container, into func(*corev1.PodSpec, []string), script string) bool {
		pod := &corev1.Pod{}
		pod.Name = "e-0"
		start.Name, start.Env, start.Command = "etcd", slices.Concat(spelledVariables, start.Env), slices.Clone(start.Command)
		start.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "conf", MountPath: "/conf"}}
		conf := corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}
		pod.Spec.Volumes = []corev1.Volume{{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &conf}}}
		pod.Spec.Containers = []corev1.Container{start}
		into(&pod.Spec, []string{"sh", "-c", script})
		return wipesData(MemberChanges(pod, func(kind, name string) (map[string][]byte, error) {
			if kind+name == "ConfigMapconf" {
				return map[string][]byte{"e-0.yaml": []byte("data-dir: /data/e-0\n")}, nil
			}
			return nil, &MissingError{Kind: kind, Name: name}
		}))
	}
	for _, start := range starts {
		for name, into := range addRemoval {
			for _, script := range removals {
				if !wipes(start, into, script) {
					t.Errorf("%s: %s is not found where etcd gets %q", name, script, start.Command)
				}
			}
			for _, script := range others {
				if wipes(start, into, script) {
					t.Errorf("%s: %s is found where etcd gets %q", name, script, start.Command)
				}
			}
		}
	}
}

// addRemoval adds a command to the only container of a pod, or another container with it.
var addRemoval = map[string]func(spec *corev1.PodSpec, argv []string){
	"before etcd": func(spec *corev1.PodSpec, argv []string) {
		c := &spec.Containers[0]
		if c.Command[0] == "sh" {
			c.Command[2] = argv[2] + "\n" + c.Command[2]
			return
		}
		c.Command = []string{"sh", "-c", argv[2] + "\nexec " + strings.Join(slices.Concat(c.Command, c.Args), " ")}
		c.Args = nil
	},
	"postStart": func(spec *corev1.PodSpec, argv []string) {
		spec.Containers[0].Lifecycle = lifecycleOf("postStart", argv)
	},
	"preStop": func(spec *corev1.PodSpec, argv []string) { spec.Containers[0].Lifecycle = lifecycleOf(PreStop, argv) },
	"init": func(spec *corev1.PodSpec, argv []string) {
		spec.InitContainers = []corev1.Container{{Name: "i", Command: argv, Env: spelledVariables, VolumeMounts: spec.Containers[0].VolumeMounts}}
	},
	"sidecar": func(spec *corev1.PodSpec, argv []string) {
		spec.Containers = append(spec.Containers, corev1.Container{Name: "s", Command: argv, Env: spelledVariables, VolumeMounts: spec.Containers[0].VolumeMounts})
	},
	"sidecar with another path": func(spec *corev1.PodSpec, argv []string) {
		env := slices.Clone(spelledVariables)
		env[1].Value = "/d"
		argv[2] = strings.ReplaceAll(argv[2], "/data", "/d")
		spec.Containers = append(spec.Containers, corev1.Container{Name: "s", Command: argv, Env: env, VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/d"}}})
	},
}
