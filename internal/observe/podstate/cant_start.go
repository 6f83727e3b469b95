// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// Exit codes of a container that a signal ended: SIGKILL and SIGTERM. A liveness probe ends
// containers in this way.
const killed, terminated = 137, 143

// Unpulled reports whether the image of a container or sidecar can't be pulled. Init containers that end before are not meant.
func Unpulled(pod *corev1.Pod) bool {
	return slices.ContainsFunc(containers.Statuses(pod), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && (c.State.Waiting.Reason == "ErrImagePull" || c.State.Waiting.Reason == "ImagePullBackOff")
	})
}

// CantStart reports whether a pod is not Ready for a reason that time does not mend: no node fits,
// the kubelet can't create a container, or a container ends by itself with an error again and again.
// A member that is ended by its liveness probe may only lack a quorum, and is none of these.
func CantStart(pod *corev1.Pod) bool {
	if c := Condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return true
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		w := c.State.Waiting
		switch {
		case w == nil, w.Reason == "", w.Reason == "PodInitializing", w.Reason == "ContainerCreating":
			return false
		case (Problem{State: w.Reason}).Crashing():
			last := c.LastTerminationState.Terminated
			return last != nil && last.ExitCode != 0 && last.ExitCode != killed && last.ExitCode != terminated
		}
		return true
	})
}
