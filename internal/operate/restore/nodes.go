// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// findNodes finds the members that can't be shown to have stopped, because their nodes are not Ready. When
// such a node comes back, its member would go on as the old cluster.
func (r *Plan) findNodes(ctx context.Context, kube client.Client, reader *observe.Reader) error {
	pods, err := reader.MemberPods(ctx, r.Owner)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		var node corev1.Node
		if pod.Spec.NodeName == "" {
			continue
		}
		err := kube.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, &node)
		switch {
		case apierrors.IsNotFound(err):
			r.Deleted = append(r.Deleted, Unreachable{Pod: pod.Name, Node: pod.Spec.NodeName})
		case apierrors.IsForbidden(err):
			r.NodesUnread = true
			return nil
		case err != nil:
			return fmt.Errorf("read node %s: %w", pod.Spec.NodeName, err)
		case !scheduling.NodeReady(&node):
			r.Unreachable = append(r.Unreachable, Unreachable{Pod: pod.Name, Node: node.Name})
		}
	}
	return nil
}

// Unreachable is a member on a node that is not Ready. ByVolume means that only its volume shows the node.
type Unreachable struct {
	Pod, Node string
	ByVolume  bool
}

func (u Unreachable) String() string {
	if u.ByVolume {
		return fmt.Sprintf("the volume of %s is on node %s", u.Pod, u.Node)
	}
	return fmt.Sprintf("pod %s is on node %s", u.Pod, u.Node)
}

// notFenced returns why members can't be shown to have stopped, nil if they can.
func (r Plan) notFenced() error {
	if len(r.Unreachable) == 0 {
		return nil
	}
	var pods, nodes []string
	byVolume := true
	for _, u := range r.Unreachable {
		pods, byVolume = append(pods, u.String()), byVolume && u.ByVolume
		if !slices.Contains(nodes, u.Node) {
			nodes = append(nodes, u.Node)
		}
	}
	which, machines, does := "which is not Ready: its member may", "the machine is", "removes the pod"
	if len(pods) > 1 {
		which, machines, does = "none of which is Ready: their members may", "the machines are", "removes the pods"
	}
	if byVolume {
		does = "records that"
	}
	set, unset := podstate.OutOfService(r.Flags.Context, nodes...)
	return r.refuse("%s, %s still run, and would go on as the old cluster; make sure that %s off, then run %s, which %s, and run this command again. When %s repaired, remove the taint: %s",
		policy.List(pods), which, machines, set, does, machines, unset)
}
