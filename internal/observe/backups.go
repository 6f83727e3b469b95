// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Backups are the times of a cluster's last snapshots, by the clock of the program that took
// them. A zero time is unknown. The zero Backups is a cluster without known backups.
type Backups struct {
	// Expected is true where there should be backups: a store is configured, or a lease is
	// named.
	Expected bool
	// Full and Delta are druid's.
	Full, Delta time.Time
	// Last is the time of a snapshot whose kind isn't known.
	Last time.Time
}

// Latest returns the time of the last snapshot, zero for never.
func (b Backups) Latest() time.Time {
	latest := b.Last
	for _, t := range []time.Time{b.Full, b.Delta} {
		if t.After(latest) {
			latest = t
		}
	}
	return latest
}

// Backups reads when a cluster's last snapshots were taken: from the leases that druid's sidecar
// renews after each snapshot, or from the lease that the owner names.
func (r *Reader) Backups(ctx context.Context, o owner.Owner) (Backups, error) {
	etcd, is, err := r.Etcd(ctx, o)
	switch {
	case err != nil:
		return Backups{}, fmt.Errorf("observe %s: %w", o, err)
	case !is:
		name := BackupLeaseName(o)
		if name == "" {
			return Backups{}, nil
		}
		last, err := r.renewed(ctx, o.Namespace, name)
		return Backups{Expected: true, Last: last}, err
	case etcd == nil || etcd.Spec.Backup.Store == nil:
		return Backups{}, nil
	}
	b := Backups{Expected: true}
	if b.Full, err = r.renewed(ctx, o.Namespace, druidv1alpha1.GetFullSnapshotLeaseName(etcd.ObjectMeta)); err != nil {
		return b, err
	}
	b.Delta, err = r.renewed(ctx, o.Namespace, druidv1alpha1.GetDeltaSnapshotLeaseName(etcd.ObjectMeta))
	return b, err
}

// renewed returns when a lease was renewed last, by its holder's clock. It is zero for never, and
// where there is no lease.
func (r *Reader) renewed(ctx context.Context, namespace, name string) (time.Time, error) {
	var lease coordinationv1.Lease
	found, err := r.Fetch(ctx, namespace, name, &lease)
	if err != nil {
		return time.Time{}, fmt.Errorf("observe Lease %s: %w", types.NamespacedName{Namespace: namespace, Name: name}, err)
	}
	if !found || lease.Spec.RenewTime == nil {
		return time.Time{}, nil
	}
	return lease.Spec.RenewTime.Time, nil
}

// backupPoll is how often a backup's lease is read. It may be any Lease, so no informer watches
// it, and backups are hours apart.
const backupPoll = time.Minute

// backupTimeout bounds the read of that lease, which is a part of an admission review.
const backupTimeout = 500 * time.Millisecond

// backupClockSkew is how far in the future the time of a backup may be. Ages are hours, so less does not matter.
const backupClockSkew = time.Hour

// backupLease derives the condition BackupReady of a cluster without an operator, from the lease
// and the maximum age that its owner's annotations name. Without them the condition is absent.
// It compares renewTime with this machine's clock.
// A lease that can't be read makes the condition Unknown, and the other facts count as before.
func (r *Reader) backupLease(ctx context.Context, w *Workload, f *Facts) policy.Condition {
	reported, allowed := w.owner.Annotations[v1alpha1.BackupLeaseAnnotation], w.owner.Annotations[v1alpha1.BackupMaxAgeAnnotation]
	if reported == "" && allowed == "" {
		return policy.Condition{}
	}
	limit, ok := maxAge(allowed)
	name := BackupLeaseName(w.owner)
	if name == "" || !ok {
		f.note(reasons.BackupLeaseIncomplete, "%s has the annotations %s: %q and %s: %q; set both, a Lease's name and a duration such as 25h. Until then the age of backups is unknown",
			w.owner, v1alpha1.BackupLeaseAnnotation, reported, v1alpha1.BackupMaxAgeAnnotation, allowed)
		return policy.Condition{}
	}
	f.changeIn(backupPoll)
	live := r.Live
	if live == nil {
		live = r.Reader
	}
	ctx, cancel := context.WithTimeout(ctx, backupTimeout)
	defer cancel()
	var lease coordinationv1.Lease
	err := live.Get(ctx, client.ObjectKey{Namespace: w.owner.Namespace, Name: name}, &lease)
	switch {
	case apierrors.IsNotFound(err):
		return newCondition(policy.Unknown, reasons.BackupLeaseNotFound)
	case err != nil:
		f.note(reasons.BackupLeaseUnreadable, "it is unknown whether backups of %s succeed: read Lease %s: %v", w.owner, name, err)
		return newCondition(policy.Unknown, reasons.BackupLeaseUnreadable)
	case lease.Spec.RenewTime == nil:
		return neverRenewed(&lease, limit, f)
	}
	age := f.At.Sub(lease.Spec.RenewTime.Time)
	if age < -backupClockSkew {
		f.changeIn(-age - backupClockSkew)
		return newCondition(policy.Unknown, reasons.BackupLeaseAhead)
	}
	rest := limit - age
	if rest < 0 {
		return newCondition(policy.False, reasons.BackupTooOld)
	}
	f.changeIn(rest + time.Second)
	return newCondition(policy.True, reasons.BackupSucceeded)
}

// neverRenewed returns the condition for a lease without a backup. If a backup was due since the lease was
// created, backups fail.
func neverRenewed(lease *coordinationv1.Lease, limit time.Duration, f *Facts) policy.Condition {
	if lease.CreationTimestamp.IsZero() {
		return newCondition(policy.Unknown, reasons.BackupLeaseNeverRenewed)
	}
	rest := limit - f.At.Sub(lease.CreationTimestamp.Time)
	if rest < 0 {
		return newCondition(policy.False, reasons.BackupTooOld)
	}
	f.changeIn(rest + time.Second)
	return newCondition(policy.Unknown, reasons.BackupLeaseNeverRenewed)
}

// BackupLeaseName returns the lease that an owner's annotation names. It is empty for none, and for
// a value that can't be a name, such as NAMESPACE/NAME.
func BackupLeaseName(o owner.Owner) string {
	name := o.Annotations[v1alpha1.BackupLeaseAnnotation]
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return ""
	}
	return name
}

func maxAge(age string) (time.Duration, bool) {
	limit, err := time.ParseDuration(age)
	return limit, err == nil && limit > 0
}
