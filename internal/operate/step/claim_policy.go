// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"encoding/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// ClaimPolicy sets what a scale-in of a StatefulSet does with claims.
type ClaimPolicy struct {
	StatefulSet string
	// WhenScaled is Retain or Delete.
	WhenScaled string
	// Mark marks the StatefulSet in the same write: see Scale.
	Mark bool
}

// Command implements Action.
func (p ClaimPolicy) Command(f Flags) string {
	text, err := json.Marshal(p.body(nil))
	if err != nil {
		panic(err) // a body has strings and maps only
	}
	return f.kubectl("patch %s/%s --type merge -p %s", StatefulSet, p.StatefulSet, format.Quote(string(text)))
}

// Do implements Action.
func (p ClaimPolicy) Do(ctx context.Context, c Clients) error {
	var annotations map[string]any
	if p.Mark {
		mark, err := c.mark(ctx, p.StatefulSet)
		if err != nil {
			return err
		}
		annotations = map[string]any{v1alpha1.RestoreAnnotation: mark}
	}
	return c.merge(ctx, StatefulSet, p.StatefulSet, p.body(annotations))
}

// body returns the patch that sets the policy and annotations.
func (p ClaimPolicy) body(annotations map[string]any) map[string]any {
	body := map[string]any{"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenScaled": p.WhenScaled}}}
	if len(annotations) > 0 {
		body["metadata"] = map[string]any{"annotations": annotations}
	}
	return body
}
