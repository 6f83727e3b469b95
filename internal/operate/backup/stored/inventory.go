// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
)

// Inventory returns the snapshots of a cluster: those that a restore would read from the backup store of its
// operator, or those in the folder of its schedule. It also has the objects that record backups. What can't be
// listed is in Missing.
func (s Stores) Inventory(ctx context.Context, of *backup.Store) (*v1alpha1.SnapshotList, error) {
	out := &v1alpha1.SnapshotList{Cluster: backup.Reference(of.Owner), Items: []v1alpha1.StoredSnapshot{}}
	store, ok, err := backupstore.Of(ctx, of.Reader, of.Owner)
	if err != nil {
		return nil, err
	}
	if ok {
		out.Store = backup.StoreOutput(store)
		out.Missing = append(out.Missing, "snapshots older than the last full one: use the tools of the store")
		of.Store = store
		if err := addLatest(ctx, of, out); err != nil {
			out.Missing = append(out.Missing, fmt.Sprintf("the contents of the store: %v", err))
		}
	} else if err := s.addSchedule(ctx, of, out); err != nil {
		out.Missing = append(out.Missing, err.Error())
	}
	return out, addRecords(ctx, of, out)
}

// addLatest adds what the sidecars know of the store.
func addLatest(ctx context.Context, of *backup.Store, out *v1alpha1.SnapshotList) error {
	br, err := of.Sidecars(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	found, err := br.Latest(ctx)
	for _, s := range found {
		out.Items = append(out.Items, s.Output())
	}
	return err
}

// addSchedule adds the schedule of a cluster and the snapshots in its folder. The error is what could not
// be listed.
func (s Stores) addSchedule(ctx context.Context, of *backup.Store, out *v1alpha1.SnapshotList) error {
	found, err := schedule.Find(ctx, of.Kube, of.Owner)
	if err != nil {
		return fmt.Errorf("the schedule: %w", err)
	}
	if found == nil {
		return errors.New(noStore(of.Owner))
	}
	out.Schedule = &v1alpha1.SnapshotSchedule{
		CronJob: found.Name, URL: found.To.String(), Every: found.Every, Keep: found.Keep, Suspended: found.Suspended,
		LastRun: v1alpha1.TimeOf(found.Started), LastSuccess: v1alpha1.TimeOf(found.Succeeded),
	}
	items, others, err := s.Scheduled(ctx, of.Owner, found.To)
	if err != nil {
		return err
	}
	out.Items = slices.Concat(out.Items, others, items)
	return nil
}

func noStore(o owner.Owner) string {
	if field := o.Product().Fields[flavour.Store]; field != "" {
		return fmt.Sprintf("%s has no backup store (%s)", o, field)
	}
	return fmt.Sprintf("%s has no known backup store", o)
}

// addRecords adds the records in Kubernetes objects.
func addRecords(ctx context.Context, of *backup.Store, out *v1alpha1.SnapshotList) error {
	leases, err := backupstore.Leases(ctx, of.Reader, of.Owner)
	if err != nil {
		return err
	}
	for _, l := range leases {
		item := v1alpha1.SnapshotLease{Type: l.Type, Name: l.Name, Revision: l.Revision}
		if !l.RenewedAt.IsZero() {
			item.RenewedAt = &metav1.Time{Time: l.RenewedAt}
		}
		out.Leases = append(out.Leases, item)
	}
	tasks, err := backupstore.SnapshotTasks(ctx, of.Reader, of.Owner)
	if err != nil {
		out.Missing = append(out.Missing, fmt.Sprintf("tasks: %v", err))
	}
	for _, t := range tasks {
		out.Tasks = append(out.Tasks, backup.TaskOutput(t))
	}
	facts, err := of.Reader.Facts(ctx, of.Owner)
	if err == nil {
		out.BackupReady = string(facts.Cluster.BackupReady.Status)
	}
	return nil
}
