// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

func newSnapshotCmd(e *env) *cobra.Command {
	cmd := newGroupCmd("snapshot", "Save, check and list snapshots, and plan a restore",
		newSnapshotSaveCmd(e),
		newSnapshotStatusCmd(e),
		newSnapshotListCmd(e),
		newSnapshotRestorePlanCmd(e),
	)
	cmd.Example = examples(`
		# A verified snapshot of a follower, in a file
		kubectl etcd snapshot save etcd-main main.db

		# What that file holds
		kubectl etcd snapshot status main.db`)
	return cmd
}
