// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNodeLost has a row for each state of a node.
func TestNodeLost(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	ready := func(status corev1.ConditionStatus) *corev1.Node {
		n := &corev1.Node{}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: at}}
		return n
	}
	for _, row := range []struct {
		what  string
		node  *corev1.Node
		why   string
		since time.Time
	}{
		{"deleted", nil, "node a does not exist", time.Time{}},
		{"Ready", ready("True"), "", time.Time{}},
		{"cut off", ready("Unknown"), "node a is not Ready", at.Time},
		{"its kubelet reports that it shuts down", ready("False"), "node a is not Ready", at.Time},
		{"no kubelet has reported", &corev1.Node{}, "", time.Time{}},
	} {
		if why, since := NodeLost("a", row.node); why != row.why || !since.Equal(row.since) {
			t.Errorf("%s: %q since %s, want %q since %s", row.what, why, since, row.why, row.since)
		}
	}
}

// TestOnLostNode: the pod is not Ready, with the reason, and the object that it was made from stays as it was.
func TestOnLostNode(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}}}}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	lost := OnLostNode(pod, "node a does not exist", now)
	if got := Of(lost).String(); Ready(lost) || got != "unready: node a does not exist" {
		t.Errorf("ready is %t: %s", Ready(lost), got)
	}
	if c := Condition(lost, corev1.PodReady); !c.LastTransitionTime.Time.Equal(now) || !Ready(pod) {
		t.Errorf("since %s, and the pod before is ready: %t", c.LastTransitionTime, Ready(pod))
	}
	if again := OnLostNode(lost, "node b is not Ready", now); again != lost {
		t.Error("a pod that is not Ready got another reason")
	}
}
