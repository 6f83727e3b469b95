// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestCacheKeepsMountedPrograms holds that a cached pod and a cached StatefulSet show as much as those
// that were read, where a script of a ConfigMap starts the container. No other volume is kept.
func TestCacheKeepsMountedPrograms(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{
		"ETCD_NAME ETCD_DATA_DIR": false, "ETCD_LISTEN_CLIENT_URLS ETCD_LISTEN_PEER_URLS": true,
	} {
		c := corev1.Container{Name: "c", Command: []string{"/scripts/run.sh"}}
		for _, name := range strings.Fields(env) {
			c.Env = append(c.Env, corev1.EnvVar{Name: name})
		}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "s", MountPath: "/scripts"}, {Name: "other", MountPath: "/other"}}
		volume := func(name string) corev1.Volume {
			from := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: []corev1.KeyToPath{{Key: "a", Path: "b"}}}
			return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: from}}
		}
		spec := corev1.PodSpec{Containers: []corev1.Container{c, c}, Volumes: []corev1.Volume{volume("other"), volume("s")}}
		spec.Containers[1].Command = []string{"sleep", "infinity"}
		pod, sts := &corev1.Pod{Spec: spec}, &appsv1.StatefulSet{}
		sts.Spec.Template.Spec = *spec.DeepCopy()
		for range 2 {
			trimPod(pod)
			trimStatefulSet(sts)
			for what, held := range map[string]*corev1.Pod{"pod": pod, "StatefulSet": etcdconf.PodOfTemplate(sts)} {
				if got := etcdconf.RunsEtcd(held); got != want {
					t.Errorf("%s: the cached %s shows etcd: %t, want %t", env, what, got, want)
				}
				if v := held.Spec.Volumes; len(v) != 1 || v[0].Name != "s" || len(v[0].ConfigMap.Items) > 0 {
					t.Errorf("%s: the cached %s has volumes %v", env, what, v)
				}
			}
		}
	}
}
