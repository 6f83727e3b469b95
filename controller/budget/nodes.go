// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// nodeField is the field by which the cache finds the pods of a node.
const nodeField = "spec.nodeName"

// nodeOf returns the node of a pod, for the index of nodeField.
func nodeOf(obj client.Object) []string {
	if pod, is := obj.(*corev1.Pod); is && pod.Spec.NodeName != "" {
		return []string{pod.Spec.NodeName}
	}
	return nil
}

// watchNodes starts the watch of nodes, once the cache finds their pods. It is for a manager that has started: the index
// needs the API server.
func (b *Reconciler) watchNodes(ctx context.Context, mgr ctrl.Manager, c controller.TypedController[owner.Key]) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, nodeField, nodeOf); err != nil {
		return fmt.Errorf("index the pods by their nodes: %w", err)
	}
	return c.Watch(watch.Clusters(mgr.GetCache(), &corev1.Node{}, b.ofNode, nodeChanged()))
}

// nodeChanged passes nodes that are created and deleted, and those that become lost or are well again: Kubernetes
// changes their pods later, or not at all. It passes none of those that exist at the start, when each cluster is
// reconciled anyway.
func nodeChanged() predicate.TypedPredicate[*corev1.Node] {
	created := predicate.TypedFuncs[*corev1.Node]{CreateFunc: func(e event.TypedCreateEvent[*corev1.Node]) bool { return !e.IsInInitialList }}
	return predicate.And(created, watch.When(func(before, after *corev1.Node) bool {
		was, _ := podstate.NodeLost(before.Name, before)
		is, _ := podstate.NodeLost(after.Name, after)
		return was != is
	}))
}

// ofNode maps a node to the clusters with members on it.
func (b *Reconciler) ofNode(ctx context.Context, node *corev1.Node) (out keys) {
	var pods corev1.PodList
	if err := b.Reader.List(ctx, &pods, client.MatchingFields{nodeField: node.Name}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "cannot list pods", "node", node.Name)
		return nil
	}
	for i := range pods.Items {
		for _, key := range b.ofPod(ctx, &pods.Items[i]) {
			if !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}
