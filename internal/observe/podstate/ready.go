// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package podstate is what a pod's status shows: whether it is ready, and why it is not.
package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// Ready reports whether the disruption controller counts a pod as healthy: it is Ready and not
// being deleted.
func Ready(pod *corev1.Pod) bool {
	c := Condition(pod, corev1.PodReady)
	return pod.DeletionTimestamp == nil && c != nil && c.Status == corev1.ConditionTrue
}

// Condition returns the condition of a kind, nil for none.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// NodeUnreachable reports whether a pod is not Ready only because its node sends no status: the node
// controller sets Ready alone. The containers were ready when the node last did.
func NodeUnreachable(pod *corev1.Pod) bool {
	containers := Condition(pod, corev1.ContainersReady)
	if Ready(pod) || containers == nil || containers.Status != corev1.ConditionTrue {
		return false
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if c := Condition(pod, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

// RunningSince returns when the last container of a pod was started, and false while any of them
// is not running. Readiness and leases that are older don't describe the containers that run now.
func RunningSince(pod *corev1.Pod) (time.Time, bool) {
	var youngest time.Time
	all := containers.Statuses(pod)
	for i := range all {
		running := all[i].State.Running
		if running == nil {
			return time.Time{}, false
		}
		if running.StartedAt.After(youngest) {
			youngest = running.StartedAt.Time
		}
	}
	return youngest, len(all) > 0
}

// StartedSince returns since when all containers of a pod have run at least once, and false if one has not. Of one
// that was restarted, it is known since when it could be created.
func StartedSince(pod *corev1.Pod) (time.Time, bool) {
	var youngest time.Time
	all := containers.Statuses(pod)
	for i := range all {
		c := &all[i]
		since := creatableSince(pod)
		switch {
		case c.RestartCount > 0:
		case c.State.Running == nil:
			return time.Time{}, false
		default:
			since = c.State.Running.StartedAt.Time
		}
		if since.After(youngest) {
			youngest = since
		}
	}
	return youngest, len(all) > 0
}

// creatableSince returns since when the volumes of a pod are attached and its init containers have ended.
func creatableSince(pod *corev1.Pod) time.Time {
	since := pod.CreationTimestamp.Time
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized} {
		if c := Condition(pod, kind); c != nil && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	return since
}

// ContainerSince returns when a container of a pod was last started, and false while it is not running.
func ContainerSince(pod *corev1.Pod, container string) (time.Time, bool) {
	for _, c := range containers.Statuses(pod) {
		if c.Name == container && c.State.Running != nil {
			return c.State.Running.StartedAt.Time, true
		}
	}
	return time.Time{}, false
}

// OutsideBudgets reports whether the eviction API evicts a pod without checking any budget
// (Kubernetes, pkg/registry/core/pod/storage/eviction.go, canIgnorePDB). It may run nevertheless.
func OutsideBudgets(pod *corev1.Pod) bool {
	phase := pod.Status.Phase
	return phase == corev1.PodPending || phase == corev1.PodSucceeded || phase == corev1.PodFailed || pod.DeletionTimestamp != nil
}
