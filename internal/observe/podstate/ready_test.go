// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
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
