// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup/stored"
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
		RunE: func(cmd *cobra.Command, args []string) error { return runList(cmd, a, args[0], store) },
	}
	store.addTo(cmd.Flags())
	ui.AddOutputFlags(cmd)
	return cmd
}

func runList(cmd *cobra.Command, a *app.App, arg string, flags storeFlags) error {
	ctx, stores := cmd.Context(), flags.of(a)
	folder, err := stores.Folder(arg)
	if err != nil {
		return err
	}
	if folder != nil {
		out, err := stored.ListFolder(ctx, *folder)
		if err != nil {
			return err
		}
		return a.Print(cmd, out, render.SnapshotFolder(a.Console, folder, out, a.Clock.Now()))
	}
	c, _, err := a.ClusterBestEffort(ctx, arg) // the backup store needs no credentials for etcd
	if err != nil {
		return err
	}
	defer c.Close()
	store, err := storeOf(a, c)
	if err != nil {
		return err
	}
	out, err := stores.Inventory(ctx, store)
	if err != nil {
		return err
	}
	return a.Print(cmd, out, render.Snapshots(a.Console, out, stored.Others(out), a.Clock.Now()))
}
