// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
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
	local, clean, err := download(cmd.Context(), a, file, store)
	if corrupt, ok := errors.AsType[*snapshot.CorruptError](err); ok {
		return app.Unhealthy("%v", corrupt)
	}
	if err != nil {
		return err
	}
	defer clean()
	out, _, err := inspect(a, cmd, local)
	if err != nil {
		return err
	}
	out.File = file
	return a.Print(cmd, out, func(w io.Writer, _ bool) error { return writeSnapshot(a.Console, w, out) })
}

// inspect reads and checks a snapshot, and its origin.
func inspect(a *app.App, cmd *cobra.Command, file string) (*v1alpha1.Snapshot, snapshot.File, error) {
	got, err := snapshot.Inspect(cmd.Context(), file)
	if corrupt, ok := errors.AsType[*snapshot.CorruptError](err); ok {
		return nil, got, app.Unhealthy("%v", corrupt)
	}
	if err != nil {
		return nil, got, err
	}
	out := snapshotObject(file, got)
	if out.Origin, err = originOf(file, out.SHA256); err != nil {
		a.Warn("%v.", err)
	}
	return out, got, nil
}

// originOf reads the origin of a snapshot from FILE.json. It returns nil if there is no such file.
func originOf(file, sha256 string) (*v1alpha1.SnapshotOrigin, error) {
	name := file + ".json"
	text, err := os.ReadFile(name) //nolint:gosec // the user chooses the path
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s v1alpha1.Snapshot
	switch err := json.Unmarshal(text, &s); {
	case err != nil:
		return nil, fmt.Errorf("%s is not a file of snapshot save: %w", name, err)
	case s.SHA256 != sha256:
		return nil, fmt.Errorf("%s is ignored: it belongs to another snapshot, with the SHA-256 %s", name, s.SHA256)
	}
	return s.Origin, nil
}
