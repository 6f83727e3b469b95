// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// cutAnnotation on a cluster's lock, a Lease, is who cut its client traffic by which
// Services, why and until when, as JSON. The Lease stays, without a holder, for as long
// as it is there.
const cutAnnotation = "kubectl-etcd.dev/client-traffic"

// CutRecord says who cut a cluster's client traffic and why. Whether it is cut,
// and until when, the Services alone say: a record outlives a cut that expired.
type CutRecord struct {
	// Services are the names of those that were cut.
	Services []string `json:"services"`
	// Until is the end as it was asked for.
	Until time.Time `json:"until"`
	// Holder is user, host and process; Reason is the user's own.
	Holder string `json:"holder"`
	Reason string `json:"reason,omitempty"`
}

// ReadCutRecord reads a cluster's record, nil when there is none.
func ReadCutRecord(ctx context.Context, kube client.Client, o observe.Owner) (*CutRecord, error) {
	var lease coordinationv1.Lease
	err := kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: LockName(o)}, &lease)
	if err != nil {
		if err = client.IgnoreNotFound(err); err != nil {
			err = fmt.Errorf("read who cut client traffic of %s: %w", o, err)
		}
		return nil, err
	}
	text, ok := lease.Annotations[cutAnnotation]
	if !ok {
		return nil, nil
	}
	var r CutRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("read who cut client traffic of %s: annotation %s of lease %s: %w", o, cutAnnotation, lease.Name, err)
	}
	return &r, nil
}

// RecordCut writes the cluster's record into the lease of the lock, nil to take it
// out.
func (l *Lock) RecordCut(ctx context.Context, r *CutRecord) error {
	held := l.Held
	if r == nil {
		held = l.ours // who was interrupted still cleans up
	}
	if err := held(); err != nil {
		return err
	}
	var value any
	if r != nil {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		value = string(text)
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{cutAnnotation: value}}})
	if err != nil {
		return err
	}
	l.mu.Lock()
	lease := l.lease.DeepCopy()
	l.mu.Unlock()
	if err := l.kube.Patch(ctx, lease, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("record the cut on lease %s: %w", l.what, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A renewal that was sent meanwhile finds its version gone and reads again.
	l.lease = lease
	return nil
}

// The operations on client traffic, as the locks of clusters name them.
const (
	CutTraffic     = "cut-client-traffic"
	RestoreTraffic = "restore-client-traffic"
)

// cutRecords are the leases that remember a cut of client traffic, and those of who is about
// to make or end one, or was when it died.
func cutRecords(ctx context.Context, kube client.Client) ([]Piece, error) {
	leases := kind{GroupVersionResource: resource(coordinationv1.GroupName, "leases"), Kind: "Lease"}
	all, err := leases.find(ctx, kube)
	return slices.DeleteFunc(all, func(p Piece) bool {
		operation := p.Annotations[OperationAnnotation]
		return !records(&p) && operation != CutTraffic && operation != RestoreTraffic
	}), err
}

// records says whether the lease has more to remember than its holder.
func records(lease metav1.Object) bool {
	_, ok := lease.GetAnnotations()[cutAnnotation]
	return ok
}
