// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNodeUnreachable has a row for each reason why a pod is not Ready.
func TestNodeUnreachable(t *testing.T) {
	t.Parallel()
	const gate = "example.com/gate"
	for _, row := range []struct {
		what       string
		conditions map[corev1.PodConditionType]corev1.ConditionStatus
		gate       bool
		want       bool
	}{
		{"the node controller", map[corev1.PodConditionType]corev1.ConditionStatus{corev1.PodReady: "False", corev1.ContainersReady: "True"}, false, true},
		{"a probe", map[corev1.PodConditionType]corev1.ConditionStatus{corev1.PodReady: "False", corev1.ContainersReady: "False"}, false, false},
		{"a readiness gate", map[corev1.PodConditionType]corev1.ConditionStatus{corev1.PodReady: "False", corev1.ContainersReady: "True"}, true, false},
		{"the node controller, and the gate is open", map[corev1.PodConditionType]corev1.ConditionStatus{corev1.PodReady: "False", corev1.ContainersReady: "True", gate: "True"}, true, true},
		{"nothing", map[corev1.PodConditionType]corev1.ConditionStatus{corev1.PodReady: "True", corev1.ContainersReady: "True"}, false, false},
		{"no status yet", nil, false, false},
	} {
		pod := &corev1.Pod{}
		for kind, status := range row.conditions {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: status})
		}
		if row.gate {
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: gate}}
		}
		if got := NodeUnreachable(pod); got != row.want {
			t.Errorf("%s: %t, want %t", row.what, got, row.want)
		}
	}
}

// TestStartedSince: a pod counts from when its last container first ran, and one whose containers restart from when
// they could be created.
func TestStartedSince(t *testing.T) {
	t.Parallel()
	at := func(minute int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC))
	}
	running := func(minute, restarts int) corev1.ContainerStatus {
		return corev1.ContainerStatus{RestartCount: int32(restarts), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(minute)}}}
	}
	waiting := corev1.ContainerStatus{}
	crashed := corev1.ContainerStatus{RestartCount: 1}
	always := corev1.ContainerRestartPolicyAlways
	first := corev1.ContainerStatus{Name: "first", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	sidecar := func(s corev1.ContainerStatus) []corev1.ContainerStatus {
		s.Name = "etcd"
		return []corev1.ContainerStatus{first, s}
	}
	for _, row := range []struct {
		what       string
		containers []corev1.ContainerStatus
		want       int // minute, negative for never
		initial    []corev1.ContainerStatus
	}{
		{what: "no status yet", want: -1},
		{what: "a volume is attached", containers: []corev1.ContainerStatus{waiting}, want: -1},
		{what: "it runs", containers: []corev1.ContainerStatus{running(5, 0)}, want: 5},
		{what: "a sidecar is later", containers: []corev1.ContainerStatus{running(5, 0), running(7, 0)}, want: 7},
		{what: "a sidecar never ran", containers: []corev1.ContainerStatus{running(5, 0), waiting}, want: -1},
		{what: "its liveness probe ended it", containers: []corev1.ContainerStatus{running(9, 3)}, want: 4},
		{what: "it waits to run again", containers: []corev1.ContainerStatus{crashed}, want: 4},
		{what: "an init container has ended", containers: []corev1.ContainerStatus{running(5, 0)}, want: 5, initial: []corev1.ContainerStatus{first}},
		{what: "a native sidecar never ran", containers: []corev1.ContainerStatus{crashed}, want: -1, initial: sidecar(waiting)},
		{what: "a native sidecar is later", containers: []corev1.ContainerStatus{crashed}, want: 6, initial: sidecar(running(6, 0))},
		{what: "a native sidecar waits to run again", containers: []corev1.ContainerStatus{running(5, 0)}, want: 5, initial: sidecar(crashed)},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(0)}, Status: corev1.PodStatus{ContainerStatuses: row.containers, InitContainerStatuses: row.initial}}
		pod.Spec.InitContainers = []corev1.Container{{Name: "first"}, {Name: "etcd", RestartPolicy: &always}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, LastTransitionTime: at(3)}, {Type: corev1.PodInitialized, LastTransitionTime: at(4)}}
		got, ran := StartedSince(pod)
		if ran != (row.want >= 0) || ran && !got.Equal(at(row.want).Time) {
			t.Errorf("%s: %s, %t", row.what, got, ran)
		}
	}
}
