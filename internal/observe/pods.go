// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// PodReady is what the disruption controller counts as healthy: the Ready
// condition of a pod that is not going away.
func PodReady(pod *corev1.Pod) bool {
	c := podCondition(pod, corev1.PodReady)
	return pod.DeletionTimestamp == nil && c != nil && c.Status == corev1.ConditionTrue
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// runningSince is when the pod's youngest container was started, false while
// any of them is not running. Both readiness and a lease say something about
// the containers that run now only if they are younger than this.
func runningSince(pod *corev1.Pod) (time.Time, bool) {
	var youngest time.Time
	for i := range pod.Status.ContainerStatuses {
		running := pod.Status.ContainerStatuses[i].State.Running
		if running == nil {
			return time.Time{}, false
		}
		if running.StartedAt.After(youngest) {
			youngest = running.StartedAt.Time
		}
	}
	return youngest, len(pod.Status.ContainerStatuses) > 0
}
