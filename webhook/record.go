// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// recordTries is how often a request is decided again because other clients wrote the holder of the record.
const recordTries = 5

// recordedDecision is a request that holds only if the members that leave by it are recorded.
type recordedDecision struct {
	// decide returns the decision, and whether it needs the record.
	decide func() (d Decision, record bool)
	// leaving returns the object that has the record, and the text of the record.
	leaving func() (client.Object, string)
	// reread reads that object again.
	reread func() error
}

// busyError is why a decision could not be recorded: other clients write the holder all the time, or what
// they wrote can't be read. What they wrote may be an eviction, so the request must not be admitted.
type busyError struct{ why string }

func (e *busyError) Error() string { return e.why }

// make decides and records. It returns a *busyError, or why the API server denies the record.
func (r recordedDecision) make(ctx context.Context, records RecordPatcher) (Decision, error) {
	for range recordTries {
		d, record := r.decide()
		if !record {
			return d, nil
		}
		holder, text := r.leaving()
		err := recordLeaving(ctx, records, holder, text)
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return d, err
		}
		if err := r.reread(); err != nil {
			return d, &busyError{"since what they wrote can't be read: " + err.Error()}
		}
	}
	return Decision{}, &busyError{fmt.Sprintf("in %d tries", recordTries)}
}

// recordLeaving writes the text of the evictions annotation on an object, if the object is still as it
// was read.
func recordLeaving(ctx context.Context, records RecordPatcher, holder client.Object, text string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": holder.GetUID(), "resourceVersion": holder.GetResourceVersion(),
		"annotations": map[string]string{v1alpha1.EvictionsAnnotation: text},
	}})
	if err != nil {
		return err
	}
	return records.Patch(ctx, holder.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, body))
}

// holderOf names the holder of a record in messages.
func holderOf(holder client.Object) string {
	if _, is := holder.(*appsv1.StatefulSet); is {
		return "StatefulSet " + holder.GetName()
	}
	return "the disruption budget of the members"
}
