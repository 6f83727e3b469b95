// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
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

// Unreachable is a member on a node that is not Ready.
type Unreachable struct{ Pod, Node string }

// notFenced returns why members can't be shown to have stopped, nil if they can.
func (r Plan) notFenced() error {
	if len(r.Unreachable) == 0 {
		return nil
	}
	u := r.Unreachable[0]
	return r.refuse("pod %s is on node %s, which is not Ready: its member may still run, and would go on as the old cluster; make sure that the machine is off, then run kubectl%s taint nodes %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, which removes the pod, and run this command again",
		u.Pod, u.Node, r.Flags.Context, u.Node)
}
