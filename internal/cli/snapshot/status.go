// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
)

func newStatusCommand(a *app.App) *cobra.Command {
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "status FILE | URL",
		Short: "Check a snapshot and show its contents",
		Long: ui.Paragraphs(`
			Check a snapshot file completely and show its contents. The command compares the hash at
			the end of the file with the database, reads all pages, and checks their order. It does
			not connect to a cluster.

			A database file from a member's data directory has no such hash and is checked without it.
			If FILE.json exists and belongs to the file, the output has the origin of the snapshot.

			URL is that of a snapshot in a store, as in snapshot save. The command downloads an object to
			a temporary file.

			Exit codes: 0 the snapshot is complete, 3 it is damaged or truncated, 1 error.`),
		Example: ui.Examples(`
			# Check a snapshot
			kubectl etcd snapshot status main.db

			# Download and check a snapshot in a bucket
			kubectl etcd snapshot status s3://backups/team-a/main.db

			# Print only the revision
			kubectl etcd snapshot status main.db -o jsonpath='{.revision}'`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runStatus(cmd, a, args[0], store) },
	}
	store.addTo(cmd.Flags())
	ui.AddOutputFlags(cmd)
	return cmd
}

func runStatus(cmd *cobra.Command, a *app.App, file string, store storeFlags) error {
	local, clean, err := store.of(a).Download(cmd.Context(), file)
	if err != nil {
		return err
	}
	defer clean()
	out, _, err := backup.Inspect(cmd.Context(), local, a.Warn)
	if err != nil {
		return err
	}
	out.File = file
	return a.Print(cmd, out, render.Snapshot(a.Console, out))
}
