// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// withoutWebhook checks that no pod needs the webhook to start.
func withoutWebhook(ctx context.Context, w *World) (err error) {
	if err := w.scaleWebhook(ctx, 0); err != nil {
		return err
	}
	defer func() {
		if back := w.scaleWebhook(context.WithoutCancel(ctx), webhookReplicas); err == nil {
			err = back
		}
	}()
	solos, err := w.createSolos(ctx)
	if err != nil {
		return err
	}
	if err := w.disturb(ctx, "without"); err != nil {
		return err
	}
	pod, err := w.loseMember(ctx)
	if err != nil {
		return err
	}
	if err := awaitReady(ctx, append(solos, w.main)...); err != nil {
		return err
	}
	w.Good("%s is back and ready", pod)
	for _, c := range solos {
		w.Good("%s is created and ready", c)
		if err := c.Delete(ctx); err != nil {
			return err
		}
	}
	return nil
}

// createSolos creates one etcd in a namespace that the policy selects, one in a namespace that
// it doesn't select, and one in the default namespace.
func (w *World) createSolos(ctx context.Context) ([]*clusters.Cluster, error) {
	var solos []*clusters.Cluster
	for _, namespace := range []string{inside, outside, metav1.NamespaceDefault} {
		w.Do("create StatefulSet %s/solo, a plain etcd", namespace)
		c, err := clusters.Apply(ctx, w.Testbed, namespace, "solo", clusters.Spec{Flavour: clusters.Plain, Size: 1})
		if err != nil {
			return nil, err
		}
		solos = append(solos, c)
	}
	return solos, nil
}

// loseMember deletes the pod of a member and waits until a new pod exists.
func (w *World) loseMember(ctx context.Context) (string, error) {
	members, err := w.main.Members(ctx)
	if err != nil {
		return "", err
	}
	pod := &members[0].Pod
	w.Do("kubectl delete pod %s -n %s", pod.Name, pod.Namespace)
	if err := w.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}); err != nil {
		return "", fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	err = clusters.Await(ctx, limit, "a new pod "+pod.Name, func(ctx context.Context) (string, bool, error) {
		var now corev1.Pod
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(pod), &now)
		return "the old one", err == nil && now.UID != pod.UID, client.IgnoreNotFound(err)
	})
	return pod.Name, err
}
