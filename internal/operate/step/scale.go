// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// Scale sets the replicas of a StatefulSet.
type Scale struct {
	StatefulSet string
	Replicas    int
	// Declared declares in the same write that etcd has as many voters, which it had not before
	// a restore. Without that, admission refuses fewer replicas than a quorum.
	Declared bool
}

// Command implements Action.
func (s Scale) Command(f Flags) string {
	if s.Declared {
		return f.kubectl("patch statefulset/%s --type merge -p '%s'", s.StatefulSet, s.declaration("'$(date -u +%FT%TZ)'"))
	}
	return f.kubectl("scale statefulset/%s --replicas=%d", s.StatefulSet, s.Replicas)
}

// Do implements Action.
func (s Scale) Do(ctx context.Context, c Clients) error {
	if s.Declared {
		patch := client.RawPatch(types.MergePatchType, []byte(s.declaration(c.Clock.Now().UTC().Format(time.RFC3339))))
		if err := c.Kube.Patch(ctx, c.object(StatefulSet, s.StatefulSet), patch); err != nil {
			return fmt.Errorf("scale StatefulSet %s to %d: %w", s.StatefulSet, s.Replicas, err)
		}
		return nil
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, s.Replicas))
	err := c.Kube.SubResource("scale").Patch(ctx, c.object(StatefulSet, s.StatefulSet), patch, client.WithSubResourceBody(&autoscalingv1.Scale{}))
	if err != nil {
		return fmt.Errorf("scale StatefulSet %s to %d: %w", s.StatefulSet, s.Replicas, err)
	}
	return nil
}

// declaration returns the patch that sets the replicas and declares as many voters at a time.
func (s Scale) declaration(at string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d at %s"}},"spec":{"replicas":%d}}`, v1alpha1.SizeAnnotation, s.Replicas, at, s.Replicas)
}
