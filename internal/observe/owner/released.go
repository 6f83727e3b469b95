// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsReleased reports whether a pod is one that a StatefulSet made and that nothing controls any more: a user
// has edited a label that its StatefulSet selects, or the StatefulSet was deleted without its pods. Its member
// runs on.
func IsReleased(pod *corev1.Pod) bool {
	return metav1.GetControllerOfNoCopy(pod) == nil && pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name
}

// Made reports whether a StatefulSet made a pod. The labels that it selects don't count: it makes no other pod of
// that name while this one is there.
func Made(sts *appsv1.StatefulSet, pod *corev1.Pod) bool {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return ref.UID == sts.UID
	}
	return IsReleased(pod) && OrdinalOf(pod.Name, sts.Name, 0) >= 0
}
