// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
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

// recordLeaving writes the text of the record on its holder, if the holder is still as it was read.
func recordLeaving(ctx context.Context, records RecordPatcher, holder client.Object, text string) error {
	patch, err := observe.RecordPatch(holder, text)
	if err != nil {
		return err
	}
	return records.Patch(ctx, holder.DeepCopyObject().(client.Object), patch)
}

// holderOf names the holder of a record in messages.
func holderOf(holder client.Object) string {
	if _, is := holder.(*appsv1.StatefulSet); is {
		return "StatefulSet " + holder.GetName()
	}
	return "the disruption budget of the members"
}
