// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// Idle reports whether the end of a member's pod stops no etcd: the pod has ended, is being deleted
// already, or is Pending and never started etcd. A Pending pod may run etcd, and etcd may vote: the
// kubelet calls a pod Pending until each of its containers has been started once. The pod's annotation
// must be the one that counts, as for etcdconf.MemberOf.
func Idle(pod *corev1.Pod) bool {
	return podstate.OutsideBudgets(pod) && (pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil || !startedEtcd(pod))
}

// startedEtcd reports whether the container that runs etcd was ever started. Where it is not known
// which container that is, any that doesn't end before the others counts.
func startedEtcd(pod *corev1.Pod) bool {
	etcd := etcdconf.MemberOf(pod).Container
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		mayBeEtcd := !endsFirst(pod, s.Name)
		if etcd != nil {
			mayBeEtcd = s.Name == etcd.Name
		}
		return mayBeEtcd && (s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil)
	})
}

// endsFirst reports whether a container is an init container that is no sidecar.
func endsFirst(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == container && !containers.Sidecar(&c)
	})
}
