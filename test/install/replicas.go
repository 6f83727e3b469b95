// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IsWebhook reports whether a program is etcd-webhook.
func IsWebhook(program string) bool { return program == Name }

// Replicas returns the pods of etcd-webhook.
func Replicas(ctx context.Context, c client.Client) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(Namespace)); err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", Name, err)
	}
	return pods.Items, nil
}

// Kill deletes replicas of etcd-webhook without a grace period.
func Kill(ctx context.Context, c client.Client, replicas ...corev1.Pod) error {
	for i := range replicas {
		pod := &replicas[i]
		if err := c.Delete(ctx, pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("kill pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}
