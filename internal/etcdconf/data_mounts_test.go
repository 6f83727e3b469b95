// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestDataMounts(t *testing.T) {
	t.Parallel()
	spec := &corev1.PodSpec{Containers: []corev1.Container{
		{Name: "backup", VolumeMounts: []corev1.VolumeMount{{Name: "other", MountPath: "/data"}}},
		{Name: "plain", VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: "/data"}}},
		{Name: "etcd", VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/data"}, {Name: "wal", MountPath: "/data/wal"}, {Name: "backups", MountPath: "/backups"},
		}},
	}, Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}}
	for _, row := range []struct {
		name   string
		config Config
		want   string
		known  bool
	}{
		{"a directory of a volume", Config{Container: "etcd", DataDir: "/data/etcd"}, "data", true},
		{"with its log elsewhere", Config{Container: "etcd", DataDir: "/data/etcd", WALDir: "/data/wal/x"}, "data wal", true},
		{"on no volume, beside claims", Config{Container: "etcd", DataDir: "/var/etcd"}, "", false},
		{"on no volume", Config{Container: "plain", DataDir: "/var/etcd"}, "", true},
		{"of a claim, with a log on no volume", Config{Container: "etcd", DataDir: "/data", WALDir: "/wal"}, "", false},
		{"a directory that only the pod knows", Config{Container: "etcd", DataDir: "$DIR"}, "", false},
		{"a log that only the pod knows", Config{Container: "etcd", DataDir: "/data", WALDir: "$WAL"}, "", false},
		{"a directory that a sourced file may change", Config{Container: "etcd", DataDir: "/data", Unknown: map[string]string{"data-dir": "sourced"}}, "", false},
		{"a log that a sourced file may set", Config{Container: "etcd", DataDir: "/data", Unknown: map[string]string{"wal-dir": "sourced"}}, "", false},
		{"a log that a launcher could set", Config{Container: "etcd", DataDir: "/data", Launcher: "/run", Unknown: map[string]string{"wal-dir": "launcher"}}, "data", true},
		{"a relative directory", Config{Container: "etcd", DataDir: "main.etcd"}, "", false},
		{"no such container", Config{Container: "x", DataDir: "/data"}, "", false},
		{"the zero configuration", Config{}, "", false},
	} {
		if got, known := row.config.DataMounts(spec); strings.Join(got, " ") != row.want || known != row.known {
			t.Errorf("%s: %q, %t; want %q, %t", row.name, got, known, row.want, row.known)
		}
	}
}
