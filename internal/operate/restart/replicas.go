// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// replicas returns how many replicas the StatefulSet has.
func (s *state) replicas() int { return int(ptr.Deref(s.sets[0].Spec.Replicas, 1)) }

// setReplicas sets the replicas, and changes the mark in the same write: the scale guard refuses a
// write that doesn't. If another client has reverted this before, it halts.
func (j *Job) setReplicas(ctx context.Context, s *state, m mark, n int) error {
	name := s.sets[0].Name
	if j.wrote[n] {
		scaler, _ := operate.LastWriter(s.sets[0], "replicas")
		return operate.Halt("this command has set the replicas of StatefulSet %s to %d, and %s has set them to %d since: stop that client",
			name, n, cmp.Or(scaler, "another client"), s.replicas())
	}
	if err := j.patchSet(ctx, s, m.at(j.Clock.Now()), &n); err != nil {
		return err
	}
	if j.wrote == nil {
		j.wrote = map[int]bool{}
	}
	j.wrote[n] = true
	j.Logf("the replicas of StatefulSet %s are %d", name, n)
	return nil
}

// patchSet writes the mark and, if they are not nil, the replicas, if the StatefulSet is as it was read.
func (j *Job) patchSet(ctx context.Context, s *state, mark *string, replicas *int, options ...client.PatchOption) error {
	sts := s.sets[0]
	body := map[string]any{"metadata": map[string]any{
		"uid": sts.UID, "resourceVersion": sts.ResourceVersion, "annotations": map[string]*string{v1alpha1.RestartAnnotation: mark},
	}}
	if replicas != nil {
		body["spec"] = map[string]any{"replicas": *replicas}
	}
	patch, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := j.Kube.Patch(ctx, sts.DeepCopy(), client.RawPatch(types.MergePatchType, patch), options...); err != nil {
		return fmt.Errorf("write StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err)
	}
	return nil
}
