// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestIdle: a Pending pod is idle until its etcd has been started, whatever its other containers do.
func TestIdle(t *testing.T) {
	t.Parallel()
	status := func(name string, s corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: s}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
	crashing := status("etcd", waiting)
	crashing.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	always := corev1.ContainerRestartPolicyAlways
	for name, row := range map[string]struct {
		phase    corev1.PodPhase
		with     func(*corev1.Pod)
		statuses []corev1.ContainerStatus
		want     bool
	}{
		"not scheduled":                     {phase: corev1.PodPending, want: true},
		"nothing started":                   {phase: corev1.PodPending, statuses: []corev1.ContainerStatus{status("etcd", waiting), status("exporter", waiting)}, want: true},
		"only the exporter started":         {phase: corev1.PodPending, statuses: []corev1.ContainerStatus{status("etcd", waiting), status("exporter", running)}, want: true},
		"etcd runs, the exporter never did": {phase: corev1.PodPending, statuses: []corev1.ContainerStatus{status("etcd", running), status("exporter", waiting)}},
		"etcd is started again":             {phase: corev1.PodPending, statuses: []corev1.ContainerStatus{crashing, status("exporter", waiting)}},
		"it is not known which container is etcd": {
			phase: corev1.PodPending, statuses: []corev1.ContainerStatus{status("etcd", running), status("exporter", waiting)},
			with: func(p *corev1.Pod) { p.Spec.Containers[0].Command = nil },
		},
		"an unknown etcd, and a sidecar that runs": {
			phase: corev1.PodPending,
			with: func(p *corev1.Pod) {
				p.Spec.Containers[0].Command = nil
				p.Spec.InitContainers = []corev1.Container{{Name: "first", RestartPolicy: &always}}
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{status("first", running)}
			},
		},
		"an unknown etcd, and an init container that runs": {
			phase: corev1.PodPending, want: true,
			with: func(p *corev1.Pod) {
				p.Spec.Containers[0].Command = nil
				p.Spec.InitContainers = []corev1.Container{{Name: "first"}}
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{status("first", running)}
			},
		},
		"a Pending pod that is deleted": {
			phase: corev1.PodPending, statuses: []corev1.ContainerStatus{status("etcd", running)}, want: true,
			with: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} },
		},
		"running": {phase: corev1.PodRunning, statuses: []corev1.ContainerStatus{crashing}},
		"failed":  {phase: corev1.PodFailed, want: true},
		"ended":   {phase: corev1.PodSucceeded, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{
				Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: []string{"etcd"}}, {Name: "exporter"}}},
				Status: corev1.PodStatus{Phase: row.phase, ContainerStatuses: row.statuses},
			}
			if row.with != nil {
				row.with(pod)
			}
			if got := Idle(pod); got != row.want {
				t.Errorf("%t, want %t", got, row.want)
			}
		})
	}
}
