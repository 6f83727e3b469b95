// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
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
