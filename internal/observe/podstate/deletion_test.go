// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeletionStuck: the pod of a node that is gone, or one with a finalizer, does not end by itself, and the
// message explains that. A node that has confirmed that the containers ended is not called gone.
func TestDeletionStuck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ends := func(end time.Time, finalizers ...string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-1", DeletionTimestamp: &metav1.Time{Time: end}, Finalizers: finalizers},
			Spec:       corev1.PodSpec{NodeName: "node-3"},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
		}
	}
	stopped := func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		return pod
	}
	never := ends(now.Add(-time.Minute), "example.com/keep")
	never.Spec.NodeName, never.Status.ContainerStatuses = "", nil
	const (
		notReady = "node node-3 is not Ready"

		lost = "pod main-1 is being deleted and should have ended 2h ago, and node node-3 is not Ready; bring the node back, or make sure that its machine is off and run kubectl taint nodes node-3 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, which removes the pod; when the machine is repaired: kubectl taint nodes node-3 node.kubernetes.io/out-of-service-"
		runs = "pod main-1 is being deleted and should have ended 2h ago, and node node-3 has not confirmed that its containers have ended; to see what it waits for: kubectl describe pod main-1 -n team"
		kept = "; its containers have ended, and it stays until its finalizers are removed (example.com/keep)"
	)
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		node string
		want string
	}{
		{"none", nil, "", ""},
		{"running", &corev1.Pod{}, "", ""},
		{"has time left", ends(now.Add(20 * time.Second)), notReady, ""},
		{"a moment late", ends(now.Add(-20 * time.Second)), notReady, ""},
		{"hours late", ends(now.Add(-2 * time.Hour)), notReady, lost},
		{"hours late, on a node that is Ready", ends(now.Add(-2 * time.Hour)), "", runs},
		{"hours late, with a finalizer, on a node that is Ready", ends(now.Add(-2*time.Hour), "example.com/keep"), "", runs},
		{"hours late, with a finalizer, on a node that confirms nothing", ends(now.Add(-2*time.Hour), "example.com/keep"), notReady, lost},
		{"hours late, stopped", stopped(ends(now.Add(-2*time.Hour), "example.com/keep")), "", "pod main-1 is being deleted and should have ended 2h ago" + kept},
		{"never had a node", never, "", "pod main-1 is being deleted and should have ended 1m ago" + kept},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := DeletionStuck(c.pod, c.node, now); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
