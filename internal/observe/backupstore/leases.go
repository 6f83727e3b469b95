// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backupstore

import (
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

// Leases reads the leases of a cluster's backups: druid's two, or the one that the owner's
// annotation names. It leaves out leases that don't exist.
func Leases(ctx context.Context, r *observe.Reader, o owner.Owner) ([]Lease, error) {
	var leases []Lease
	if o.OfDruid() {
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

// SnapshotTasks reads the tasks for snapshots of a druid cluster, the newest first.
func SnapshotTasks(ctx context.Context, r *observe.Reader, o owner.Owner) ([]druidv1alpha1.EtcdOpsTask, error) {
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
