// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package containers knows which containers of a pod run as long as the pod: those beside each other, and the native
// sidecars among its init containers. Any of them may be the member. An init container that ends before the
// others start is none of them.
package containers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Sidecar reports whether an init container runs as long as its pod.
func Sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// Of returns the containers of a pod that run as long as the pod, and its native sidecars last. They share their memory with
// the specification.
func Of(spec *corev1.PodSpec) []*corev1.Container {
	all := make([]*corev1.Container, 0, len(spec.Containers))
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; Sidecar(c) {
			all = append(all, c)
		}
	}
	return all
}

// Named returns the one of them with a name, nil for none.
func Named(spec *corev1.PodSpec, name string) *corev1.Container {
	all := Of(spec)
	if i := slices.IndexFunc(all, func(c *corev1.Container) bool { return c.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Statuses returns the statuses of the same containers.
func Statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	all := slices.Clone(pod.Status.ContainerStatuses)
	for i := range pod.Status.InitContainerStatuses {
		if s := &pod.Status.InitContainerStatuses[i]; Named(&pod.Spec, s.Name) != nil {
			all = append(all, *s)
		}
	}
	return all
}
