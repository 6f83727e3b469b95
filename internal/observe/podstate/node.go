// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeLost returns why the pods of a node are not to be counted on although they may be Ready, and since when, zero if
// that is not known. It is empty for a node that is well. node is nil for one that does not exist.
//
// Nothing marks the pods of a deleted node as not Ready: they stay Ready until the pod garbage collector deletes them,
// about 45 seconds later. Those of a node that is not Ready are marked up to 5 seconds later, a kubelet that still runs
// marks them as Ready again, and they are deleted by a taint after 5 minutes, or at once if the node shuts down.
//
// A node that is created again under its name counts as the same one. Its kubelet reports Ready only once it has
// read the pods, and static pods are older than the node of a kubelet that registers again. A node without the condition
// Ready counts as well: no kubelet has reported yet.
func NodeLost(name string, node *corev1.Node) (why string, since time.Time) {
	if node == nil {
		return fmt.Sprintf("node %s does not exist", name), time.Time{}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return fmt.Sprintf("node %s is not Ready", name), c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// OnLostNode returns a copy of a pod that is not Ready because of its node. A pod that is not Ready stays as it is.
func OnLostNode(pod *corev1.Pod, why string, since time.Time) *corev1.Pod {
	if c := Condition(pod, corev1.PodReady); c == nil || c.Status != corev1.ConditionTrue {
		return pod
	}
	lost := *pod
	lost.Status.Conditions = slices.Clone(pod.Status.Conditions)
	c := Condition(&lost, corev1.PodReady)
	c.Status, c.Reason, c.Message, c.LastTransitionTime = corev1.ConditionFalse, "NodeLost", why, metav1.NewTime(since)
	return &lost
}

// OutOfService returns the command by which a user declares that the machines of nodes are off, and the one that ends
// that. Kubernetes then removes their pods and detaches their volumes. context is the flags of kubectl, each after a
// space. The deletion of a node removes its pods, too, whether the machine is off or not: a member on a machine that is only cut
// off runs on.
func OutOfService(context string, nodes ...string) (set, unset string) {
	taint := fmt.Sprintf("kubectl%s taint nodes %s %s", context, strings.Join(nodes, " "), corev1.TaintNodeOutOfService)
	return taint + "=nodeshutdown:NoExecute", taint + "-"
}

// NodeGone returns what to do about a node that may be gone.
func NodeGone(node string) string {
	set, unset := OutOfService("", node)
	return fmt.Sprintf("bring the node back, or make sure that its machine is off and run %s, which removes the pod; when the machine is repaired: %s", set, unset)
}
