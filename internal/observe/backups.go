// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Backups are when a cluster's last snapshots were taken, by the clock of
// whoever took them. Zero times are not known. The zero Backups is a cluster of
// which nobody is known to take any.
type Backups struct {
	// Expected says that there should be backups: a store is configured, or a
	// lease is named.
	Expected bool
	// Full and Delta are druid's.
	Full, Delta time.Time
	// Last is another's, whose kind isn't known.
	Last time.Time
}

// Latest is when the youngest was taken, zero for never.
func (b Backups) Latest() time.Time {
	latest := b.Last
	for _, t := range []time.Time{b.Full, b.Delta} {
		if t.After(latest) {
			latest = t
		}
	}
	return latest
}

// Backups reads when a cluster's last snapshots were taken from the leases that
// druid's sidecar renews after each, or from the one that the owner names.
func (r *Reader) Backups(ctx context.Context, o Owner) (Backups, error) {
	if o.Flavour != Druid {
		name := namedLease(o)
		if name == "" {
			return Backups{}, nil
		}
		last, err := r.renewed(ctx, o.Namespace, name)
		return Backups{Expected: true, Last: last}, err
	}
	var etcd druidv1alpha1.Etcd
	found, err := r.fetch(ctx, o.Namespace, o.Name, &etcd)
	if err != nil {
		return Backups{}, fmt.Errorf("observe %s: %w", o, err)
	}
	if !found || etcd.Spec.Backup.Store == nil {
		return Backups{}, nil
	}
	b := Backups{Expected: true}
	if b.Full, err = r.renewed(ctx, o.Namespace, druidv1alpha1.GetFullSnapshotLeaseName(etcd.ObjectMeta)); err != nil {
		return b, err
	}
	b.Delta, err = r.renewed(ctx, o.Namespace, druidv1alpha1.GetDeltaSnapshotLeaseName(etcd.ObjectMeta))
	return b, err
}

// renewed is when a lease was renewed last, by its holder's clock. Zero for
// never, or when there is none.
func (r *Reader) renewed(ctx context.Context, namespace, name string) (time.Time, error) {
	var lease coordinationv1.Lease
	found, err := r.fetch(ctx, namespace, name, &lease)
	if err != nil {
		return time.Time{}, fmt.Errorf("observe Lease %s: %w", types.NamespacedName{Namespace: namespace, Name: name}, err)
	}
	if !found || lease.Spec.RenewTime == nil {
		return time.Time{}, nil
	}
	return lease.Spec.RenewTime.Time, nil
}
