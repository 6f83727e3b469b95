// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot implements kubectl etcd snapshot.
package snapshot

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command kubectl etcd snapshot.
func NewCommand(a *app.App) *cobra.Command {
	cmd := ui.NewGroupCmd("snapshot", "Save, check, list, schedule and restore snapshots",
		newSaveCommand(a),
		newStatusCommand(a),
		newVerifyCommand(a),
		newListCommand(a),
		newScheduleCommand(a),
		newRestoreCommand(a),
		newRestorePlanCommand(a),
	)
	cmd.Example = ui.Examples(`
		# Save a verified snapshot of a follower to a file
		kubectl etcd snapshot save etcd-main main.db

		# Check the file and show its contents
		kubectl etcd snapshot status main.db`)
	return cmd
}
