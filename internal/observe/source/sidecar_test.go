// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// TestCacheKeepsSidecars holds that a cached pod and a cached StatefulSet show etcd in a native sidecar, and since when it
// runs. Of an init container that ends nothing is kept.
func TestCacheKeepsSidecars(t *testing.T) {
	t.Parallel()
	always, early, late := corev1.ContainerRestartPolicyAlways, time.Unix(100, 0), time.Unix(200, 0)
	running := func(name string, since time.Time) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}}}
	}
	spec := corev1.PodSpec{
		Containers: []corev1.Container{{Name: "app", Command: []string{"/app"}}},
		InitContainers: []corev1.Container{
			{Name: "init", Command: []string{"etcd"}}, {Name: "db", Command: []string{"etcd", "--name", "secret"}, RestartPolicy: &always},
		},
	}
	ended := corev1.ContainerStatus{Name: "init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	pod, sts := &corev1.Pod{Spec: spec}, &appsv1.StatefulSet{}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{running("app", early)}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{ended, running("db", late)}
	sts.Spec.Template.Spec = *spec.DeepCopy()
	for range 2 {
		trimPod(pod)
		trimStatefulSet(sts)
		for what, held := range map[string]*corev1.Pod{"pod": pod, "StatefulSet": etcdconf.PodOfTemplate(sts)} {
			m := etcdconf.MemberOf(held)
			if m.Container == nil || m.Container.Name != "db" || len(held.Spec.InitContainers) != 1 || len(m.Container.Command) != 1 {
				t.Errorf("the cached %s shows %+v, init containers %v", what, m, held.Spec.InitContainers)
			}
		}
		if since, ok := podstate.RunningSince(pod); !ok || !since.Equal(late) {
			t.Errorf("the cached pod runs since %s, %t; want the start of its sidecar", since, ok)
		}
		if since, ok := podstate.ContainerSince(pod, "db"); !ok || !since.Equal(late) {
			t.Errorf("the cached sidecar runs since %s, %t", since, ok)
		}
	}
}
