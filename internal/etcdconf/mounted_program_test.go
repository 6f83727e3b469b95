// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// mountedPrograms are containers whose program is a script of a volume, and that have a member's
// variables.
var mountedPrograms = []struct {
	id, argv string
	volume   corev1.VolumeSource
	// mount is where the volume is, and env are the names of variables.
	mount, env string
	want       Evidence
}{
	{"MP-1 a backup of a ConfigMap", "/scripts/backup.sh", ofConfigMap, "/scripts", two, Hinted},
	{"MP-2 a backup of a Secret", "/scripts/backup.sh", ofSecret, "/scripts", two, Hinted},
	{"MP-3 a backup of a projected volume", "/scripts/backup.sh", projected, "/scripts", two, Hinted},
	{"MP-4 behind a launcher", "tini -- /scripts/backup.sh --daily", ofConfigMap, "/scripts", two, Hinted},
	{"MP-5 in a folder", "/scripts/db/../backup.sh", ofConfigMap, "/scripts/", two, Hinted},
	{"MP-6 one file", "/tmp/backup.sh", ofConfigMap, "/tmp/backup.sh", two, Hinted},
	{"MP-7 a folder in a variable", "$(DIR)/backup.sh", ofConfigMap, "/scripts", two, Hinted},
	{"MP-8 the listener of one kind", "/scripts/backup.sh", ofConfigMap, "/scripts", two + " ETCD_LISTEN_CLIENT_URLS", Hinted},
	{"MP-9 Bitnami's chart before 6", "/scripts/setup.sh", ofConfigMap, "/scripts/setup.sh", bitnami5, Shown},
	{"MP-10 OpenStack-Helm", "/tmp/etcd.sh", ofConfigMap, "/tmp/etcd.sh", bitnami5 + " MY_STS_NAME ETCD_ON_K8S", Shown},
	{"MP-11 both listeners, of a Secret", "/scripts/start.sh", ofSecret, "/scripts", listeners, Shown},
	{"MP-12 a script of the image", "/entrypoint.sh", ofConfigMap, "/scripts", server, Shown},
	{"MP-13 a folder with a similar name", "/scripts-of-image/run.sh", ofConfigMap, "/scripts", server, Shown},
	{"MP-14 a script that the pod writes", "/scripts/start.sh", written, "/scripts", server, Hinted},
	{"MP-15 no script", "/scripts/backup", ofConfigMap, "/scripts", two, Hinted},
	{"MP-16 one variable", "/scripts/backup.sh", ofConfigMap, "/scripts", "ETCD_DATA_DIR", Hinted},
	{"MP-17 variables of a client", "/scripts/backup.sh", ofConfigMap, "/scripts", "ETCD_NAME", NoEvidence},
	{"MP-21 a script of the image, and no server", "/entrypoint.sh", ofConfigMap, "/scripts", two, Hinted},
	{"MP-22 a script of PATH", "entrypoint.sh", ofConfigMap, "/scripts", server, Shown},
	{"MP-23 a script of PATH, and no server", "backup.sh", ofConfigMap, "/scripts", two, Hinted},
	{"MP-24 a script of the node", "/tools/backup.sh", ofNode, "/tools", server, Hinted},
	{"MP-25 a script of a claim", "/tools/backup.sh", ofClaim, "/tools", server, Hinted},
	{"MP-26 a script of a CSI volume", "/tools/backup.sh", ofCSI, "/tools", server, Hinted},
	{"MP-27 a relative path", "./backup.sh", ofNode, "/tools", server, Hinted},
	{"MP-28 a script that the pod writes, with both listeners", "/scripts/start.sh", written, "/scripts", listeners, Shown},
	{"MP-29 a script that the pod writes, of Bitnami's manifests", "/scripts/start.sh", written, "/scripts", two + " ETCD_ON_K8S", Hinted},
	{"MP-30 a script of Bitnami's image", "/opt/bitnami/scripts/etcd/run.sh", ofConfigMap, "/scripts", "ETCD_DATA_DIR ETCD_ON_K8S", Shown},
}

const (
	two       = "ETCD_NAME ETCD_DATA_DIR"
	server    = two + " ETCD_INITIAL_ADVERTISE_PEER_URLS"
	listeners = "ETCD_LISTEN_CLIENT_URLS ETCD_LISTEN_PEER_URLS"
	bitnami5  = two + " " + listeners + " ETCD_ADVERTISE_CLIENT_URLS ETCD_INITIAL_ADVERTISE_PEER_URLS ETCD_INITIAL_CLUSTER ALLOW_NONE_AUTHENTICATION"
)

var (
	ofConfigMap = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}
	ofSecret    = corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}
	written     = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	ofNode      = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/opt"}}
	ofClaim     = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "tools"}}
	ofCSI       = corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "tools"}}
	projected   = corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}},
	}}}
)

func mountedProgram(argv, mount, env string, volume corev1.VolumeSource) *corev1.PodSpec {
	c := corev1.Container{
		Name: "c", Command: strings.Fields(argv), VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "s", MountPath: mount}},
		Env: []corev1.EnvVar{{Name: "DIR", Value: "/scripts"}},
	}
	for name := range strings.FieldsSeq(env) {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: "secret"})
	}
	return &corev1.PodSpec{Containers: []corev1.Container{c}, Volumes: []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "s", VolumeSource: volume},
	}}
}

// TestMountedProgram holds that a script of a volume which is not read shows etcd only with the listeners of a
// member, and a script of the image only with a variable of a server, also in a pod of the manager's cache.
func TestMountedProgram(t *testing.T) {
	t.Parallel()
	for _, row := range mountedPrograms {
		spec := mountedProgram(row.argv, row.mount, row.env, row.volume)
		if got := evidenceIn(&corev1.Pod{Spec: *spec}, nil); got != row.want {
			t.Errorf("%s: %d, want %d", row.id, got, row.want)
		}
		for range 2 {
			spec = &corev1.PodSpec{Containers: []corev1.Container{Reduced(&corev1.Pod{Spec: *spec}, &spec.Containers[0])}}
			if got := evidenceIn(&corev1.Pod{Spec: *spec}, nil); got != row.want {
				t.Errorf("%s: in the cache %d, want %d", row.id, got, row.want)
			}
		}
	}
}

// TestMountedProgramIsRead holds that the content of a script counts where it is read, whatever the
// container's variables are.
func TestMountedProgramIsRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, script string
		want       Evidence
	}{
		{"MP-18 a backup", "#!/bin/sh\netcdctl snapshot save /b", Hinted},
		{"MP-19 another program", "#!/bin/sh\nexec /app", Hinted},
		{"MP-20 a member", "#!/bin/sh\nexec etcd", Shown},
	} {
		pod, contents := mountedPod(row.script, nil)
		for name := range strings.FieldsSeq(bitnami5) {
			pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: "x"})
		}
		if got := evidenceIn(pod, contents); got != row.want {
			t.Errorf("%s: %d, want %d", row.id, got, row.want)
		}
	}
}
