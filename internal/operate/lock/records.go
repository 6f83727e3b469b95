// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// recordPrefix begins the annotations of a lease that are the lock's own or records.
const recordPrefix = "kubectl-etcd.dev/"

// Records returns what operations have recorded on a cluster's lease, by name, nil
// for nothing. A record is an annotation under kubectl-etcd.dev/ and outlives its
// lock: a released lease with records stays, without a holder.
func Records(lease metav1.Object) map[string]string {
	var records map[string]string
	for key, value := range lease.GetAnnotations() {
		name, ours := strings.CutPrefix(key, recordPrefix)
		if !ours || key == OperationAnnotation || key == reasonAnnotation {
			continue
		}
		if records == nil {
			records = map[string]string{}
		}
		records[name] = value
	}
	return records
}

// ReadRecords returns the records of a cluster's lease, nil where there is no lease.
func ReadRecords(ctx context.Context, kube client.Reader, o owner.Owner) (map[string]string, error) {
	var lease coordinationv1.Lease
	err := kube.Get(ctx, leaseKey(o), &lease)
	return Records(&lease), client.IgnoreNotFound(err)
}

// SetRecord writes a record. It fails where the lock is lost, or its context has ended.
func (l *Lock) SetRecord(ctx context.Context, name, value string) error {
	if err := l.StillHeld(); err != nil {
		return err
	}
	return l.patchRecord(ctx, name, value)
}

// DeleteRecord removes a record. An interrupted operation still cleans up, so only a
// lost lock is an error.
func (l *Lock) DeleteRecord(ctx context.Context, name string) error {
	if err := l.notLost(); err != nil {
		return err
	}
	return l.patchRecord(ctx, name, nil)
}

// patchRecord sets a record's annotation. A nil value removes it. It fails and writes nothing where
// the lease is another process's by now.
func (l *Lock) patchRecord(ctx context.Context, name string, value any) error {
	l.mu.Lock()
	ours := l.lease.DeepCopy()
	l.mu.Unlock()
	lease, err := l.patchVersion(ctx, ours, name, value)
	for range conflicts {
		if !apierrors.IsConflict(err) {
			break
		}
		// A renewal of this process, or another client, has written the lease meanwhile.
		now := &coordinationv1.Lease{}
		if err = l.kube.Get(ctx, client.ObjectKeyFromObject(ours), now); err != nil {
			break
		}
		switch {
		case now.UID != ours.UID:
			return &LostError{Lease: l.name, Why: "another client deleted it"}
		case !sameHolder(now, ours):
			return l.heldBy(now)
		}
		lease, err = l.patchVersion(ctx, now, name, value)
	}
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err) && l.createdAgain(ctx, ours):
		return &LostError{Lease: l.name, Why: "another client deleted it"}
	case err != nil:
		return fmt.Errorf("write record %q to lease %s: %w", name, l.name, err)
	case !sameHolder(lease, ours):
		return l.heldBy(lease)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A renewal that was sent meanwhile gets a conflict and reads the lease again.
	l.lease = lease
	return nil
}

// conflicts is how often a record is written again over another version of the lease.
const conflicts = 5

// patchVersion writes a record over one version of the lease. It returns the lease as it is then.
func (l *Lock) patchVersion(ctx context.Context, version *coordinationv1.Lease, name string, value any) (*coordinationv1.Lease, error) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		// The API server refuses a patch of a lease that was deleted and created again.
		"uid": version.UID, "resourceVersion": version.ResourceVersion, "annotations": map[string]any{recordPrefix + name: value},
	}})
	if err != nil {
		return nil, err
	}
	lease := version.DeepCopy()
	return lease, l.kube.Patch(ctx, lease, client.RawPatch(types.MergePatchType, body))
}

// createdAgain reports whether the lease is another object than the one of this lock.
func (l *Lock) createdAgain(ctx context.Context, ours *coordinationv1.Lease) bool {
	var now coordinationv1.Lease
	err := l.kube.Get(ctx, client.ObjectKeyFromObject(ours), &now)
	return err == nil && now.UID != ours.UID
}
