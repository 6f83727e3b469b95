// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// webhookReplicas is the normal number of replicas.
const webhookReplicas = 2

// scaleWebhook sets the replicas of etcd-webhook and waits until that many run.
func (w *World) scaleWebhook(ctx context.Context, replicas int32) error {
	w.Do("kubectl scale deployment %s --replicas %d -n %s", install.Name, replicas, install.Namespace)
	d := &appsv1.Deployment{}
	d.Namespace, d.Name = install.Namespace, install.Name
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if err := w.Client.Patch(ctx, d, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("scale etcd-webhook to %d: %w", replicas, err)
	}
	return clusters.Await(ctx, limit, fmt.Sprintf("%d replicas of etcd-webhook", replicas), func(ctx context.Context) (string, bool, error) {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
			return "", false, err
		}
		pods, err := install.Replicas(ctx, w.Client)
		if err != nil {
			return "", false, err
		}
		s := d.Status
		done := s.ObservedGeneration == d.Generation && s.ReadyReplicas == replicas && len(pods) == int(replicas)
		return fmt.Sprintf("%d pods, %d ready", len(pods), s.ReadyReplicas), done, nil
	})
}

// costOfLosing returns how much the story needs each node. The node of druid costs most, because
// the story waits for druid. The nodes of etcd-webhook come next.
func (w *World) costOfLosing(ctx context.Context) (map[string]int, error) {
	pods, err := install.Replicas(ctx, w.Client)
	if err != nil {
		return nil, err
	}
	druid, err := clusters.DruidNode(ctx, w.Testbed)
	if err != nil {
		return nil, err
	}
	cost := map[string]int{druid: 10}
	for _, p := range pods {
		cost[p.Spec.NodeName]++
	}
	return cost, nil
}
