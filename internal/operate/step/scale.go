// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"encoding/json"
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
	// Mark marks the StatefulSet as one that a restore has stopped, in the same write. Without that, admission
	// refuses the writes after the first. The command doesn't, because nothing would remove the mark.
	Mark bool
}

// Command implements Action.
func (s Scale) Command(f Flags) string {
	if s.Declared {
		declared := map[string]any{v1alpha1.SizeAnnotation: fmt.Sprintf("%d at '$(date -u +%%FT%%TZ)'", s.Replicas)}
		return f.kubectl("patch statefulset/%s --type merge -p '%s'", s.StatefulSet, s.body(declared))
	}
	return f.kubectl("scale statefulset/%s --replicas=%d", s.StatefulSet, s.Replicas)
}

// Do implements Action.
func (s Scale) Do(ctx context.Context, c Clients) error {
	now := c.Clock.Now().UTC()
	annotations := map[string]any{}
	if s.Declared {
		annotations[v1alpha1.SizeAnnotation] = fmt.Sprintf("%d at %s", s.Replicas, now.Format(time.RFC3339)) //nolint:forbidigo // stored
	}
	if s.Mark {
		mark, err := c.mark(ctx, s.StatefulSet)
		if err != nil {
			return err
		}
		annotations[v1alpha1.RestoreAnnotation] = mark
	}
	set := c.object(StatefulSet, s.StatefulSet)
	var err error
	if patch := client.RawPatch(types.MergePatchType, []byte(s.body(annotations))); len(annotations) > 0 {
		err = c.Kube.Patch(ctx, set, patch)
	} else {
		err = c.Kube.SubResource("scale").Patch(ctx, set, patch, client.WithSubResourceBody(&autoscalingv1.Scale{}))
	}
	if err != nil {
		return fmt.Errorf("scale StatefulSet %s to %d: %w", s.StatefulSet, s.Replicas, err)
	}
	return nil
}

// body returns the patch that sets the replicas and annotations.
func (s Scale) body(annotations map[string]any) string {
	body := map[string]any{"spec": map[string]any{"replicas": s.Replicas}}
	if len(annotations) > 0 {
		body["metadata"] = map[string]any{"annotations": annotations}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // a body has strings and numbers only
	}
	return string(text)
}
