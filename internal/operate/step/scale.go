// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Scale sets the replicas of a StatefulSet.
type Scale struct {
	StatefulSet string
	Replicas    int
}

// Command implements Action.
func (s Scale) Command(f Flags) string {
	return f.kubectl("scale statefulset/%s --replicas=%d", s.StatefulSet, s.Replicas)
}

// Do implements Action.
func (s Scale) Do(ctx context.Context, c Clients) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, s.Replicas))
	err := c.Kube.SubResource("scale").Patch(ctx, c.object(StatefulSet, s.StatefulSet), patch, client.WithSubResourceBody(&autoscalingv1.Scale{}))
	if err != nil {
		return fmt.Errorf("scale StatefulSet %s to %d: %w", s.StatefulSet, s.Replicas, err)
	}
	return nil
}
