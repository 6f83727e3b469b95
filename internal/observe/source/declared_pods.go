// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// declaredPods lists the pods of the Deployments and DaemonSets of all namespaces that declare that
// they run etcd. A kind that the user may not list declares nothing.
func declaredPods(ctx context.Context, from client.Reader) ([]corev1.Pod, error) {
	var deployments appsv1.DeploymentList
	if err := from.List(ctx, &deployments); err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list deployments.apps: %w", err)
	}
	var sets appsv1.DaemonSetList
	if err := from.List(ctx, &sets); err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list daemonsets.apps: %w", err)
	}
	var out []corev1.Pod
	add := func(o metav1.Object, selector *metav1.LabelSelector) error {
		if o.GetAnnotations()[v1alpha1.EtcdAnnotation] == "" {
			return nil
		}
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			return fmt.Errorf("selector of %s/%s: %w", o.GetNamespace(), o.GetName(), err)
		}
		var pods corev1.PodList
		err = from.List(ctx, &pods, client.InNamespace(o.GetNamespace()), client.MatchingLabelsSelector{Selector: parsed})
		if err != nil && !apierrors.IsForbidden(err) {
			return fmt.Errorf("list pods of %s/%s: %w", o.GetNamespace(), o.GetName(), err)
		}
		out = append(out, pods.Items...)
		return nil
	}
	for i := range deployments.Items {
		if err := add(&deployments.Items[i], deployments.Items[i].Spec.Selector); err != nil {
			return nil, err
		}
	}
	for i := range sets.Items {
		if err := add(&sets.Items[i], sets.Items[i].Spec.Selector); err != nil {
			return nil, err
		}
	}
	return out, nil
}
