// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// BackupStore is where a cluster's backups are stored, and how to reach the program that takes
// them.
type BackupStore struct {
	// Provider, Container (the bucket) and Prefix are the location.
	Provider, Container, Prefix string
	// Port is the port of etcd-backup-restore in every member's pod.
	Port int
	// ServerName is the name in its certificate, and CA are the authorities that sign it, in
	// PEM. CAErr is why CA can't be read. Without TLS all three are empty.
	ServerName string
	TLS        bool
	CA         []byte
	CAErr      error
}

// defaultBackupPort is druid's port where spec.backup.port is not set.
const defaultBackupPort = 8080

// BackupStore reads where an Etcd's backups are stored. It returns false for a cluster without a
// store, and for one that isn't druid's.
func (r *Reader) BackupStore(ctx context.Context, o owner.Owner) (BackupStore, bool, error) {
	if !o.OfDruid() {
		return BackupStore{}, false, nil
	}
	var etcd druidv1alpha1.Etcd
	found, err := r.Fetch(ctx, o.Namespace, o.Name, &etcd)
	if err != nil || !found || !etcd.IsBackupStoreEnabled() {
		return BackupStore{}, false, err
	}
	store := etcd.Spec.Backup.Store
	out := BackupStore{
		Provider: string(ptr.Deref(store.Provider, "")), Container: ptr.Deref(store.Container, ""), Prefix: store.Prefix,
		Port: int(cmp.Or(ptr.Deref(etcd.Spec.Backup.Port, 0), defaultBackupPort)), ServerName: etcd.Name + "-local",
	}
	if tls := etcd.Spec.Backup.TLS; tls != nil {
		out.TLS = true
		out.CA, out.CAErr = r.backupCA(ctx, o.Namespace, tls.TLSCASecretRef)
	}
	return out, true, nil
}

// backupCA reads the authorities of backup-restore's certificate. Where no key is named, druid's
// own programs use different ones.
func (r *Reader) backupCA(ctx context.Context, namespace string, ref druidv1alpha1.SecretReference) ([]byte, error) {
	data, err := podfiles.New(r, cmp.Or(ref.Namespace, namespace)).Secret(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	keys := []string{ptr.Deref(ref.DataKey, ""), "ca.crt", "bundle.crt"}
	for _, key := range keys {
		if len(data[key]) > 0 {
			return data[key], nil
		}
	}
	return nil, fmt.Errorf("secret %s/%s has none of the keys %q", namespace, ref.Name, keys)
}

// BackupLease is a lease that is renewed after each backup.
type BackupLease struct {
	// Type is Full, Delta or, where the two have one lease, Backup.
	Type, Name string
	// Revision is the last revision in the store according to this lease, 0 for unknown.
	Revision int64
	// RenewedAt is by the clock of its holder, zero for never.
	RenewedAt time.Time
}

// BackupLeases reads the leases of a cluster's backups: druid's two, or the one that the owner's
// annotation names. It leaves out leases that don't exist.
func (r *Reader) BackupLeases(ctx context.Context, o owner.Owner) ([]BackupLease, error) {
	var leases []BackupLease
	if o.OfDruid() {
		leases = []BackupLease{{Type: "Full", Name: o.Name + "-full-snap"}, {Type: "Delta", Name: o.Name + "-delta-snap"}}
	} else if name := namedLease(o); name != "" {
		leases = []BackupLease{{Type: "Backup", Name: name}}
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

// SnapshotTasks reads the tasks for snapshots of a druid cluster, the newest first.
func (r *Reader) SnapshotTasks(ctx context.Context, o owner.Owner) ([]druidv1alpha1.EtcdOpsTask, error) {
	if !o.OfDruid() {
		return nil, nil
	}
	var list druidv1alpha1.EtcdOpsTaskList
	if err := r.List(ctx, &list, client.InNamespace(o.Namespace)); err != nil {
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil // druid before 0.34
		}
		return nil, fmt.Errorf("list EtcdOpsTasks of namespace %s: %w", o.Namespace, err)
	}
	tasks := slices.DeleteFunc(list.Items, func(t druidv1alpha1.EtcdOpsTask) bool {
		return ptr.Deref(t.Spec.EtcdName, "") != o.Name || t.Spec.Config.OnDemandSnapshot == nil
	})
	slices.SortFunc(tasks, func(a, b druidv1alpha1.EtcdOpsTask) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	return tasks, nil
}
