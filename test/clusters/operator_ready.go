// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// druidLimit is the time in which druid must start. It sleeps ten seconds first, and a machine
// that builds images is slow.
const druidLimit = 10 * time.Minute

// awaitDruid waits until druid acts on an Etcd. An available Deployment is not enough, because a
// wrong configuration can end druid long after its start.
func (k *kube) awaitDruid(ctx context.Context) error {
	if err := k.awaitDeployment(ctx); err != nil {
		return err
	}
	// An Etcd without members needs only a few objects and starts no pod.
	probe := &druidv1alpha1.Etcd{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-", Namespace: DruidNamespace},
		Spec:       druidv1alpha1.EtcdSpec{Labels: map[string]string{"app": "probe"}},
	}
	err := Await(ctx, druidLimit, "the creation of druid's probe", func(ctx context.Context) (string, bool, error) {
		err := k.Create(ctx, probe)
		return "", err == nil, err
	})
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(probe)
	err = Await(ctx, druidLimit, fmt.Sprintf("druid to act on %s", key), func(ctx context.Context) (string, bool, error) {
		if err := k.Get(ctx, key, probe); err != nil {
			return "", false, err
		}
		done := probe.Status.LastOperation != nil && probe.Status.LastOperation.State == druidv1alpha1.LastOperationStateSucceeded
		return lastOperation(probe), done, nil
	})
	if err != nil {
		return err
	}
	if err := client.IgnoreNotFound(k.Delete(ctx, probe)); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return Await(ctx, druidLimit, fmt.Sprintf("druid to let %s go", key), func(ctx context.Context) (string, bool, error) {
		err := k.Get(ctx, key, probe)
		return lastOperation(probe), err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
	})
}

func (k *kube) awaitDeployment(ctx context.Context) error {
	return Await(ctx, druidLimit, "druid to start", func(ctx context.Context) (string, bool, error) {
		var deployment appsv1.Deployment
		if err := k.Get(ctx, client.ObjectKey{Namespace: DruidNamespace, Name: druidName}, &deployment); err != nil {
			return "", false, err
		}
		s := deployment.Status
		done := s.ObservedGeneration >= deployment.Generation && s.UpdatedReplicas == 1 && s.Replicas == 1 && s.AvailableReplicas == 1
		if done {
			return "", true, nil
		}
		seen, err := k.druidPods(ctx)
		return seen, false, err
	})
}

// druidPods returns the state of druid's pods.
func (k *kube) druidPods(ctx context.Context) (string, error) {
	var pods corev1.PodList
	err := k.List(ctx, &pods, client.InNamespace(DruidNamespace), client.MatchingLabels{"app.kubernetes.io/name": druidName})
	if err != nil {
		return "", err
	}
	seen := []string{fmt.Sprintf("%d pods", len(pods.Items))}
	for _, pod := range pods.Items {
		seen = append(seen, Member{Pod: pod, Ready: podReady(&pod)}.String())
	}
	return strings.Join(seen, "; "), nil
}

// DruidNode returns the node on which druid runs. Tests that isolate a node may avoid this one.
func DruidNode(ctx context.Context, tb Testbed) (string, error) {
	k, err := connect(tb)
	if err != nil {
		return "", err
	}
	var pods corev1.PodList
	err = k.List(ctx, &pods, client.InNamespace(DruidNamespace), client.MatchingLabels{"app.kubernetes.io/name": druidName})
	if err != nil {
		return "", fmt.Errorf("check druid: %w", err)
	}
	for _, pod := range pods.Items {
		if podReady(&pod) {
			return pod.Spec.NodeName, nil
		}
	}
	return "", fmt.Errorf("check druid: none of its %d pods is Ready", len(pods.Items))
}

// awaitEstablished waits until the API server serves custom resources.
func (k *kube) awaitEstablished(ctx context.Context, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		current := definition.DeepCopy()
		what := fmt.Sprintf("custom resource %s to be served", definition.GetName())
		err := Await(ctx, druidLimit, what, func(ctx context.Context) (string, bool, error) {
			if err := k.Get(ctx, client.ObjectKeyFromObject(definition), current); err != nil {
				return "", false, err
			}
			conditions, _, err := unstructured.NestedSlice(current.Object, "status", "conditions")
			for _, c := range conditions {
				if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
					return "", true, nil
				}
			}
			return fmt.Sprint(conditions), false, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
