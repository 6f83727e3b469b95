// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Nodes are all nodes of a Kubernetes cluster.
type Nodes []corev1.Node

// List returns all nodes. It returns false if the user may not list them.
func List(ctx context.Context, kube client.Reader) (Nodes, bool, error) {
	var all corev1.NodeList
	err := kube.List(ctx, &all)
	if apierrors.IsForbidden(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("list nodes: %w", err)
	}
	return all.Items, true, nil
}

// Mounting returns the nodes that can mount volumes.
func (n Nodes) Mounting(volumes []*corev1.PersistentVolume) (found []*corev1.Node) {
	for i := range n {
		if Mounts(&n[i], volumes) {
			found = append(found, &n[i])
		}
	}
	return found
}

// Starting returns the nodes that can start a new pod with its volumes.
func (n Nodes) Starting(pod *corev1.Pod, volumes []*corev1.PersistentVolume) []*corev1.Node {
	return slices.DeleteFunc(n.Mounting(volumes), func(node *corev1.Node) bool { return obstacleTo(node, pod) != obstacle{} })
}

// Closed returns why those nodes start no new pod that can mount its volumes, empty if no node can mount them.
// opens means that one of them can start it when its cordon or its taint is removed.
func (n Nodes) Closed(pod *corev1.Pod, volumes []*corev1.PersistentVolume) (why string, opens bool) {
	var closed []string
	for _, node := range n.Mounting(volumes) {
		if o := obstacleTo(node, pod); o != (obstacle{}) {
			closed, opens = append(closed, fmt.Sprintf("node %s %s", node.Name, o.text)), opens || o.opens
		}
	}
	return policy.Items(len(closed), func(i int) string { return closed[i] }), opens
}

// NoStart returns why no node can start a pod with its volumes, for users.
func (n Nodes) NoStart(pod *corev1.Pod, volumes []*corev1.PersistentVolume) (why string, opens bool) {
	why, opens = n.Closed(pod, volumes)
	switch {
	case why != "" && len(volumes) > 0:
		return "no node can start it with its volume: " + why, opens
	case why != "":
		return "no node can start it: " + why, opens
	case len(volumes) > 0:
		return "no node can mount its volume, PersistentVolume " + volumes[0].Name, false
	}
	return "there is no node", false
}
