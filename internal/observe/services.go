// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// MemberPods reads the pods of a cluster's members, in the order of their ordinals, or of their
// names where they have none. There are none while the workload doesn't exist.
func (r *Reader) MemberPods(ctx context.Context, o owner.Owner) ([]*corev1.Pod, error) {
	w, err := r.workload(ctx, o)
	return w.pods, err
}

// ClientServices reads the Services through which clients reach members, by name: those that are
// not headless and select some member. A traffic cut in a selector is ignored. They may select
// other pods too.
func (r *Reader) ClientServices(ctx context.Context, o owner.Owner) ([]corev1.Service, error) {
	w, err := r.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	all, err := r.Services(ctx, o.Namespace)
	return slices.DeleteFunc(all, func(s corev1.Service) bool {
		return s.Spec.ClusterIP == corev1.ClusterIPNone || !w.servedBy(&s)
	}), err
}

// Services lists the Services of a namespace, by name.
func (r *Reader) Services(ctx context.Context, namespace string) ([]corev1.Service, error) {
	var list corev1.ServiceList
	if err := r.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list Services of namespace %s: %w", namespace, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Service) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// servedBy reports whether a Service selects some member, when a traffic cut is ignored. The
// endpoints of a Service without a selector come from elsewhere.
func (w *workload) servedBy(s *corev1.Service) bool {
	rest := Uncut(s)
	if len(rest) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName {
		return false
	}
	return slices.ContainsFunc(w.memberLabels(), func(member labels.Set) bool { return labels.SelectorFromSet(rest).Matches(member) })
}

// OwnersOfService returns the clusters whose members a Service selects when a traffic cut is
// ignored, and the names of the other pods that it selects. A Service without a selector selects
// none.
func (r *Reader) OwnersOfService(ctx context.Context, service *corev1.Service) (owners []owner.Owner, others []string, err error) {
	selector := Uncut(service)
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
		cluster, found, err := r.clusterOfPod(ctx, pod)
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
