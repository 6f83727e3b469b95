// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// changeTemplate returns how to change a setting of the pods, which restarts the members. A member that is down would be one of
// two then.
func (f *Facts) changeTemplate(order, inFields string, settings ...flavour.Setting) string {
	return f.restarting(f.whenHealthy(f.change(order, inFields, settings...)))
}

// restarting returns a fix that changes a pod template, and so restarts its members, with what must hold before.
func (f *Facts) restarting(fix string) string {
	switch {
	case slices.ContainsFunc(f.partPods(), f.losesData):
		return "only when the data is on persistent volumes (D006), because it restarts the members, and a new pod starts without the data: " + fix
	case f.part != "": // its controller doesn't wait for members of other StatefulSets
		return "one StatefulSet at a time, and the next when all members are healthy again: " + fix
	case f.Owner.WithoutStatefulSet() && f.Owner.Controller == nil && len(f.Pods.Value) > 1: // each has a manifest
		return "one member at a time, and the next when all members are healthy again: " + fix
	}
	return fix
}

// whenHealthy returns a fix that takes a member down, or may do so, with the condition if a member is down already.
func (f *Facts) whenHealthy(fix string) string {
	if f.allHealthy() {
		return fix
	}
	return "once all members are healthy, " + fix
}

// losesData reports whether a pod's data ends with the pod.
func (f *Facts) losesData(pod *corev1.Pod) bool {
	dir := f.dataDir(pod)
	if dir == "" || static(pod) {
		return false
	}
	volume, mounted := volumeAt(pod, dir)
	return !mounted || volume.EmptyDir != nil
}
