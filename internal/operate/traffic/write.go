// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// unreadableCut is what a probe writes, as a dry run: etcd-webhook accepts no cut whose
// end it can't read.
const unreadableCut = "probe"

// probeResult is what the dry runs of a cut have shown.
type probeResult struct {
	// maintained means that etcd-webhook answers: it maintains a cut against other writers
	// of the Service, and ends it on time.
	maintained bool
	// now is the API server's clock, to the second.
	now time.Time
}

// probeCut tries a cut of a Service as a dry run. The error is a refusal of the API server
// or of an admission webhook. local is this machine's clock, which it uses if the API
// server returns no time.
func probeCut(ctx context.Context, kube client.Client, s *corev1.Service, local time.Time) (probeResult, error) {
	tried, err := tryCut(ctx, kube, s, observe.CutValue(local.Add(time.Hour)))
	if err != nil {
		return probeResult{}, err
	}
	p := probeResult{now: writeTime(tried, local)}
	if tried, err = tryCut(ctx, kube, s, unreadableCut); err != nil {
		return probeResult{}, err
	}
	p.maintained = tried.Spec.Selector[v1alpha1.ClientTrafficKey] != unreadableCut
	return p, nil
}

func tryCut(ctx context.Context, kube client.Client, s *corev1.Service, value string) (*corev1.Service, error) {
	tried := s.DeepCopy()
	if err := kube.Patch(ctx, tried, keyPatch(s, &value), client.DryRunAll); err != nil {
		return nil, fmt.Errorf("cut client traffic of Service %s, as a dry run: %w", s.Name, err)
	}
	return tried, nil
}

// writeTime returns when a Service was last written, by the API server's clock. A dry run
// that changes something is a write, too.
func writeTime(s *corev1.Service, local time.Time) time.Time {
	var last time.Time
	for _, m := range s.ManagedFields {
		if m.Time != nil && m.Time.After(last) {
			last = m.Time.Time
		}
	}
	if ago := local.Sub(last); last.IsZero() || ago.Abs() > 24*time.Hour {
		return local
	}
	return last
}

// writeCut writes a cut into a Service's selector, or another end into one that is cut. The
// Service must still select what s does.
func writeCut(ctx context.Context, kube client.Client, s *corev1.Service, until time.Time) error {
	value := observe.CutValue(until)
	if err := kube.Patch(ctx, s, keyPatch(s, &value)); err != nil {
		return fmt.Errorf("cut client traffic of Service %s: %w", s.Name, explainConflict(err))
	}
	if got := s.Spec.Selector[v1alpha1.ClientTrafficKey]; got != value {
		return fmt.Errorf("cut client traffic of Service %s: the API server accepted the write, but an admission webhook changed it: the selector has %q", s.Name, got)
	}
	return nil
}

// Restore removes the cut from a Service's selector and nothing else, and reports whether the Service was cut. It writes
// twice: first an end that has passed by every clock. By that, etcd-webhook distinguishes the second write from one that
// lacks the cut by mistake. After the first write the cut has ended, and the controller would also do the second.
func Restore(ctx context.Context, kube client.Client, key client.ObjectKey) (bool, error) {
	restored := false
	ended := observe.CutValue(time.Time{})
	for range 10 {
		var s corev1.Service
		if err := kube.Get(ctx, key, &s); err != nil {
			return restored, fmt.Errorf("restore client traffic of Service %s: %w", key.Name, err)
		}
		value, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		if !cut {
			return restored, nil
		}
		patch := keyPatch(&s, &ended)
		if value == ended {
			patch = keyPatch(&s, nil)
		}
		err := kube.Patch(ctx, &s, patch)
		if err != nil && !errors.Is(explainConflict(err), errChanged) {
			return restored, fmt.Errorf("restore client traffic of Service %s: %w", key.Name, err)
		}
		restored = true
	}
	return restored, fmt.Errorf("restore client traffic of Service %s: another client writes its selector all the time", key.Name)
}

// TryRestore returns a dry run of Restore. It returns the API server's or admission's
// refusal.
func TryRestore(ctx context.Context, kube client.Client, s *corev1.Service) error {
	return kube.Patch(ctx, s.DeepCopy(), keyPatch(s, nil), client.DryRunAll)
}

// keyPatch returns a patch that sets the key in a Service's selector, or removes it for nil,
// if the selector is as it was read. Other fields may have changed.
func keyPatch(s *corev1.Service, value *string) client.Patch {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	path := "/spec/selector/" + strings.ReplaceAll(v1alpha1.ClientTrafficKey, "/", "~1")
	ops := []operation{{Op: "test", Path: "/spec/selector", Value: s.Spec.Selector}, {Op: "remove", Path: path}}
	if value != nil {
		ops[1] = operation{Op: "add", Path: path, Value: *value}
	}
	body, err := json.Marshal(ops)
	if err != nil {
		panic(err) // it has strings only
	}
	return client.RawPatch(types.JSONPatchType, body)
}

var errChanged = errors.New("another client changed its selector meanwhile; run the command again")

// explainConflict returns errChanged if the condition of a patch didn't hold. The API server
// reports that only by a code without a cause.
func explainConflict(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	unexplained := ok && (status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0)
	if apierrors.IsConflict(err) || apierrors.IsInvalid(err) && unexplained {
		return errChanged
	}
	return err
}
