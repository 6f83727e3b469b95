// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package memberservices finds the Services by which clients and members reach members, and the clusters to which a
// Service leads. It decides nothing and writes nothing.
package memberservices

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// OfClients reads the Services through which clients reach members, by name: those that are
// not headless and select some member. A traffic cut in a selector is ignored. They may select
// other pods too.
func OfClients(ctx context.Context, r *observe.Reader, o owner.Owner) ([]corev1.Service, error) {
	w, err := r.Workload(ctx, o)
	if err != nil {
		return nil, err
	}
	all, err := List(ctx, r, o.Namespace)
	return slices.DeleteFunc(all, func(s corev1.Service) bool {
		return s.Spec.ClusterIP == corev1.ClusterIPNone || !w.ServedBy(&s)
	}), err
}

// List lists the Services of a namespace, by name.
func List(ctx context.Context, r *observe.Reader, namespace string) ([]corev1.Service, error) {
	var list corev1.ServiceList
	if err := r.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list Services of namespace %s: %w", namespace, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Service) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// Owners returns the clusters whose members a Service selects when a traffic cut is
// ignored, and the names of the other pods that it selects. A Service without a selector selects
// none.
func Owners(ctx context.Context, r *observe.Reader, service *corev1.Service) (owners []owner.Owner, others []string, err error) {
	selector := observe.Uncut(service)
	if len(selector) == 0 {
		return nil, nil, nil
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(service.Namespace), client.MatchingLabels(selector), client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list pods of Service %s/%s: %w", service.Namespace, service.Name, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue // no endpoint
		}
		cluster, found, err := r.ClusterOfPod(ctx, pod)
		switch {
		case err != nil:
			return nil, nil, err
		case !found:
			others = append(others, pod.Name)
		case !slices.ContainsFunc(owners, func(o owner.Owner) bool { return o.Key() == cluster.Key() }):
			owners = append(owners, cluster)
		}
	}
	return owners, others, nil
}
