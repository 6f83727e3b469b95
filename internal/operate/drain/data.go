// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// lostData returns where a member has its data if a new pod starts without it, empty if the data is in
// a volume that outlives the pod, or if that is not known.
func (o *observation) lostData(ctx context.Context, pod *corev1.Pod) string {
	config, err := podfiles.New(o.reader, pod.Namespace).Config(ctx, pod)
	if err != nil {
		return ""
	}
	mount, known := config.DataMount(&pod.Spec)
	switch {
	case !known:
		return ""
	case mount == nil:
		return "the container's own file system"
	}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.Name != mount.Name:
		case v.EmptyDir != nil:
			return "emptyDir " + v.Name
		case v.Ephemeral != nil:
			return "the ephemeral volume " + v.Name
		case v.CSI != nil:
			return "the ephemeral volume " + v.Name + " of " + v.CSI.Driver
		case v.HostPath != nil:
			return fmt.Sprintf("hostPath %s of the node", v.HostPath.Path)
		}
	}
	return ""
}

// warnData warns about an evicted member that starts elsewhere without its data.
func (o *observation) warnData(ctx context.Context, n *Node, m Member) {
	if m.Stays || observe.Idle(m.Pod) {
		return
	}
	if where := o.lostData(ctx, m.Pod); where != "" {
		n.Warnings = append(n.Warnings, fmt.Sprintf("the data of %s/%s is in %s, and the member starts on another node without it",
			m.Pod.Namespace, m.Pod.Name, where))
	}
}
