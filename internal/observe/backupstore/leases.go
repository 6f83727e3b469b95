// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backupstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Lease is a lease that is renewed after each backup.
type Lease struct {
	// Type is Full, Delta or, where the two have one lease, Backup.
	Type, Name string
	// Revision is the last revision in the store according to this lease, 0 for unknown.
	Revision int64
	// RenewedAt is by the clock of its holder, zero for never.
	RenewedAt time.Time
}

// Leases reads the leases of a cluster's backups: the two that etcd-backup-restore renews, or the one that the owner's
// annotation names. It leaves out leases that don't exist.
func Leases(ctx context.Context, r *observe.Reader, o owner.Owner) ([]Lease, error) {
	var leases []Lease
	if o.Product().BackupRestore {
		leases = []Lease{{Type: "Full", Name: o.Name + "-full-snap"}, {Type: "Delta", Name: o.Name + "-delta-snap"}}
	} else if name := observe.BackupLeaseName(o); name != "" {
		leases = []Lease{{Type: "Backup", Name: name}}
	}
	out := leases[:0]
	for _, l := range leases {
		var lease coordinationv1.Lease
		found, err := r.Fetch(ctx, o.Namespace, l.Name, &lease)
		if err != nil {
			return nil, fmt.Errorf("read lease %s/%s: %w", o.Namespace, l.Name, err)
		}
		if !found {
			continue
		}
		l.Revision, _ = strconv.ParseInt(ptr.Deref(lease.Spec.HolderIdentity, ""), 10, 64)
		if lease.Spec.RenewTime != nil {
			l.RenewedAt = lease.Spec.RenewTime.Time
		}
		out = append(out, l)
	}
	return out, nil
}
