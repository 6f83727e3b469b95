// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestDataVolumes has a row for each way to keep data or not. Volumes are NAME=KIND at a path.
func TestDataVolumes(t *testing.T) {
	t.Parallel()
	kinds := map[string]corev1.VolumeSource{
		"claim":     {PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-main-0"}},
		"empty":     {EmptyDir: &corev1.EmptyDirVolumeSource{}},
		"ephemeral": {Ephemeral: &corev1.EphemeralVolumeSource{}},
		"inline":    {CSI: &corev1.CSIVolumeSource{}},
		"host":      {HostPath: &corev1.HostPathVolumeSource{}},
		"nfs":       {NFS: &corev1.NFSVolumeSource{}},
		"config":    {ConfigMap: &corev1.ConfigMapVolumeSource{}},
	}
	for _, row := range []struct {
		what    string
		command []string
		mounts  map[string]string
		want    string
	}{
		{"a claim", []string{"etcd", "--data-dir=/data/etcd"}, map[string]string{"/data": "claim"}, "claim"},
		{"hostPath", []string{"etcd", "--data-dir=/data"}, map[string]string{"/data": "host"}, "host"},
		{"emptyDir", []string{"etcd", "--data-dir=/data"}, map[string]string{"/data": "empty"}, "-"},
		{"an ephemeral claim", []string{"etcd", "--data-dir=/data"}, map[string]string{"/data": "ephemeral"}, "-"},
		{"an inline volume", []string{"etcd", "--data-dir=/data"}, map[string]string{"/data": "inline"}, "-"},
		{"the container", []string{"etcd", "--data-dir=/data"}, nil, "-"},
		{"the container, beside a claim", []string{"etcd", "--data-dir=/data"}, map[string]string{"/backup": "claim"}, "-"},
		{"emptyDir in a claim", []string{"etcd", "--data-dir=/data/etcd"}, map[string]string{"/data": "claim", "/data/etcd": "empty"}, "-"},
		{"the log elsewhere", []string{"etcd", "--data-dir=/data", "--wal-dir=/wal"}, map[string]string{"/data": "claim", "/wal": "nfs"}, "claim nfs"},
		{"the log in emptyDir", []string{"etcd", "--data-dir=/data", "--wal-dir=/wal"}, map[string]string{"/data": "claim", "/wal": "empty"}, "-"},
		{"not known, with a claim", []string{"etcd", "--data-dir=$(DIR)"}, map[string]string{"/data": "claim", "/conf": "config"}, "claim"},
		{"not known, without one", []string{"etcd", "--data-dir=$(DIR)"}, map[string]string{"/data": "empty", "/conf": "config"}, "-"},
		{"no etcd that is shown, with a claim", []string{"/start"}, map[string]string{"/data": "claim"}, "claim"},
	} {
		pod := &corev1.Pod{}
		c := corev1.Container{Name: "etcd", Command: row.command}
		for path, kind := range row.mounts {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: kind, MountPath: path})
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: kind, VolumeSource: kinds[kind]})
		}
		pod.Spec.Containers = []corev1.Container{c}
		volumes, kept := DataVolumes(pod)
		var names []string
		for _, v := range volumes {
			names = append(names, v.Name)
		}
		got := strings.Join(names, " ")
		if !kept {
			got = "-"
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}
