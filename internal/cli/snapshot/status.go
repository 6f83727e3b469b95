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
	cmd := &cobra.Command{
		Use:   "status FILE",
		Short: "Check a snapshot in a file and say what it holds",
		Long: ui.Paragraphs(`
			Check a snapshot file in full and say what it holds: the hash at its end is compared with
			its database, every page is read, and their order is checked. No cluster is asked.

			A database that was copied from a member's data directory is recognised by the hash that
			it lacks; it is checked without. What FILE.json beside it says of where it came from is
			shown where it is of this very file.

			The exit code is 0 for a whole snapshot and 3 for one that is damaged or cut off.`),
		Example: ui.Examples(`
			kubectl etcd snapshot status main.db

			# Only the revision
			kubectl etcd snapshot status main.db -o jsonpath='{.revision}'`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runStatus(cmd, a, args[0]) },
	}
	ui.AddOutputFlags(cmd)
	return cmd
}

func runStatus(cmd *cobra.Command, a *app.App, file string) error {
	out, err := inspect(a, cmd, file)
	if err != nil {
		return err
	}
	return a.Print(cmd, out, func(w io.Writer, _ bool) error { return writeSnapshot(w, out) })
}

// inspect reads a snapshot and what stands beside it.
func inspect(a *app.App, cmd *cobra.Command, file string) (*v1alpha1.Snapshot, error) {
	got, err := etcd.InspectSnapshot(cmd.Context(), file)
	if corrupt, ok := errors.AsType[*etcd.CorruptError](err); ok {
		return nil, app.Unhealthy("%v", corrupt)
	}
	if err != nil {
		return nil, err
	}
	out := snapshotObject(file, got)
	if out.Origin, err = originOf(file, out.SHA256); err != nil {
		a.Warn("%v.", err)
	}
	return out, nil
}

// originOf reads the file beside a snapshot, if that is what it is beside.
func originOf(file, sha256 string) (*v1alpha1.SnapshotOrigin, error) {
	beside := file + ".json"
	text, err := os.ReadFile(beside) //nolint:gosec // the user's own choice
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s v1alpha1.Snapshot
	switch err := json.Unmarshal(text, &s); {
	case err != nil:
		return nil, fmt.Errorf("%s is not what snapshot save writes: %w", beside, err)
	case s.SHA256 != sha256:
		return nil, fmt.Errorf("%s is of another snapshot, with the SHA-256 %s, and is ignored", beside, s.SHA256)
	}
	return s.Origin, nil
}
