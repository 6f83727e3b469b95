// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// deletionGrace is how long after its time a pod that is deleted may still end by itself.
const deletionGrace = 30 * time.Second

// DeletionStuck returns why the deletion of a pod can't complete by itself, and how to complete it. lost is why its node
// is lost, empty for one that is well or not known. The text is empty for all other pods, and for nil, which is no such pod.
//
// The taint of a node evicts all of its pods, so it is only for a node that is lost.
func DeletionStuck(pod *corev1.Pod, lost string, now time.Time) string {
	if pod == nil || pod.DeletionTimestamp == nil {
		return ""
	}
	late := now.Sub(pod.DeletionTimestamp.Time)
	if late < deletionGrace {
		return ""
	}
	text := fmt.Sprintf("pod %s is being deleted and should have ended %s ago", pod.Name, policy.Duration(late.Round(time.Second)))
	if len(pod.Finalizers) > 0 && Stopped(pod) {
		return fmt.Sprintf("%s; its containers have ended, and it stays until its finalizers are removed (%s)", text, policy.List(pod.Finalizers))
	}
	if lost == "" {
		return fmt.Sprintf("%s, and node %s has not confirmed that its containers have ended; to see what it waits for: kubectl describe pod %s -n %s", text, pod.Spec.NodeName, pod.Name, pod.Namespace)
	}
	return fmt.Sprintf("%s, and %s; %s", text, lost, NodeGone(pod.Spec.NodeName))
}

// Stopped reports whether no container of a pod runs any more, as far as its node has confirmed it. A pod without a
// node has never run.
func Stopped(pod *corev1.Pod) bool {
	for _, c := range containers.Statuses(pod) {
		if c.State.Terminated == nil {
			return false
		}
	}
	return pod.Spec.NodeName == "" || len(pod.Status.ContainerStatuses) > 0
}
