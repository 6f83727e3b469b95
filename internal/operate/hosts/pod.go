// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Admitted returns a pod of a template with the tolerations that present pods of the same template have: admission may
// add some to each pod.
func Admitted(pod *corev1.Pod, present []*corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, p := range present {
		for _, t := range p.Spec.Tolerations {
			if !slices.Contains(pod.Spec.Tolerations, t) {
				pod.Spec.Tolerations = append(pod.Spec.Tolerations, t)
			}
		}
	}
	return pod
}
