// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
)

// nodeChanged passes nodes that are created and deleted, and those that become lost or are well again: Kubernetes
// changes their pods later, or not at all.
func nodeChanged() predicate.TypedPredicate[*corev1.Node] {
	return watch.When(func(before, after *corev1.Node) bool {
		was, _ := podstate.NodeLost(before.Name, before)
		is, _ := podstate.NodeLost(after.Name, after)
		return was != is
	})
}

// ofNode maps a node to the clusters with members on it.
func (b *Reconciler) ofNode(ctx context.Context, node *corev1.Node) (out keys) {
	var pods corev1.PodList
	if err := b.Reader.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "cannot list pods", "node", node.Name)
		return nil
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName != node.Name {
			continue
		}
		for _, key := range b.ofPod(ctx, &pods.Items[i]) {
			if !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}
