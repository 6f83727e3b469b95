// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
)

func newListCommand(a *app.App) *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "list TARGET | URL",
		Short: "List the snapshots in a cluster's backup store or in a bucket",
		Long: ui.Paragraphs(`
			List the snapshots that a restore of a druid cluster would read from its backup store: the
			last full snapshot and the deltas after it. The list comes from etcd-backup-restore. For
			older snapshots and for sizes, use the tools of the store.

			With the URL of a folder, as in snapshot save, list all snapshots in it. Their revisions and
			clusters come from their descriptions, NAME.db.json.

			The output also has the leases that record the progress of the backups, and the snapshot
			tasks of etcd-druid. For other clusters, it has the schedule of snapshot schedule with the
			snapshots in its folder, and the Lease of the annotation kubectl-etcd.dev/backup-lease. The
			credentials for the folder come from your environment.`),
		Example: ui.Examples(`
			# List the snapshots of a cluster
			kubectl etcd snapshot list etcd-main

			# List the snapshots in a bucket
			kubectl etcd snapshot list s3://backups/team-a

			# Print the last revision that a restore would contain
			kubectl etcd snapshot list etcd-main -o jsonpath='{.items[-1:].lastRevision}'`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if blob.IsURL(args[0]) {
				return runListURL(cmd, a, args[0], store)
			}
			return runList(cmd, a, args[0], store)
		},
	}
	store.addTo(cmd.Flags())
	ui.AddOutputFlags(cmd)
	return cmd
}

func runList(cmd *cobra.Command, a *app.App, target string, flags storeFlags) error {
	ctx := cmd.Context()
	c, _, err := a.ClusterBestEffort(ctx, target) // the backup store needs no credentials for etcd
	if err != nil {
		return err
	}
	defer c.Close()
	out := &v1alpha1.SnapshotList{Cluster: backup.Reference(c.Owner), Items: []v1alpha1.StoredSnapshot{}}
	store, ok, err := backupstore.Of(ctx, c.Reader, c.Owner)
	if err != nil {
		return err
	}
	if ok {
		out.Store = storeObject(store)
		out.Missing = append(out.Missing, "snapshots older than the last full one: use the tools of the store")
		if err := addLatest(ctx, a, c, store, out); err != nil {
			out.Missing = append(out.Missing, fmt.Sprintf("the contents of the store: %v", err))
		}
	} else if err := addSchedule(ctx, c, flags, out); err != nil {
		out.Missing = append(out.Missing, err.Error())
	}
	if err := addRecords(ctx, c, out); err != nil {
		return err
	}
	return a.Print(cmd, out, func(w io.Writer, wide bool) error { return writeSnapshots(a, w, out, wide) })
}

func noStore(o owner.Owner) string {
	if field := o.Product().Fields[flavour.Store]; field != "" {
		return fmt.Sprintf("%s has no backup store (%s)", o, field)
	}
	return fmt.Sprintf("%s has no known backup store", o)
}

func addLatest(ctx context.Context, a *app.App, c *app.Cluster, store backupstore.Store, out *v1alpha1.SnapshotList) error {
	s, err := storeOf(a, c)
	if err != nil {
		return err
	}
	s.Store = store
	br, err := s.Sidecars(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	found, err := br.Latest(ctx)
	for _, s := range found {
		out.Items = append(out.Items, storedObject(s))
	}
	return err
}

// addRecords adds the records in Kubernetes objects.
func addRecords(ctx context.Context, c *app.Cluster, out *v1alpha1.SnapshotList) error {
	leases, err := backupstore.Leases(ctx, c.Reader, c.Owner)
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
	tasks, err := backupstore.SnapshotTasks(ctx, c.Reader, c.Owner)
	if err != nil {
		out.Missing = append(out.Missing, fmt.Sprintf("tasks: %v", err))
	}
	for _, t := range tasks {
		out.Tasks = append(out.Tasks, taskObject(t))
	}
	facts, err := c.Reader.WithoutNodes().Facts(ctx, c.Owner)
	if err == nil {
		out.BackupReady = string(facts.Cluster.BackupReady.Status)
	}
	return nil
}
