// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Clusters lists all etcd clusters: those of Owners, and those of pods without a StatefulSet.
func (r *Reader) Clusters(ctx context.Context, opts ...client.ListOption) ([]owner.Owner, error) {
	owners, err := r.Owners(ctx, opts...)
	if err != nil {
		return nil, err
	}
	pods, err := r.PodsAsDeclared(ctx, opts...)
	if err != nil {
		return nil, err
	}
	mixed, err := r.mixed(ctx, pods, opts...)
	return owner.WithPods(append(owners, owner.OfPods(pods)...), mixed), err
}

// ClusterOfPod returns the cluster of a pod, also of a pod without a StatefulSet.
func (r *Reader) ClusterOfPod(ctx context.Context, pod *corev1.Pod) (owner.Owner, bool, error) {
	if owner, found, err := r.OwnerOfPod(ctx, pod); err != nil || found {
		return owner, found, err
	}
	pods, err := r.PodsAsDeclared(ctx, client.InNamespace(pod.Namespace))
	if err != nil {
		return owner.Owner{}, false, err
	}
	for _, g := range owner.GroupPods(pods) {
		if slices.ContainsFunc(g.Pods, func(p *corev1.Pod) bool { return p.Name == pod.Name }) {
			owners, err := r.WithMixed(ctx, pod.Namespace, []owner.Owner{g.Owner}, pods)
			if err != nil {
				return owner.Owner{}, false, err
			}
			return owners[0], true, nil
		}
	}
	return owner.Owner{}, false, nil
}
