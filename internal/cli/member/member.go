// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package member implements kubectl etcd member.
package member

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// NewCommand returns the command member.
func NewCommand(e *app.App) *cobra.Command {
	group := ui.NewGroupCmd("member", "List and change the members of a cluster",
		newMemberAddCmd(e),
		newMemberListCmd(e),
		newMemberPromoteCmd(e),
		newMemberRemoveCmd(e),
		newMemberReplaceCmd(e),
	)
	group.Example = ui.Examples(`
		# Replace the member of a pod that has lost its data
		kubectl etcd member replace main-1

		# Remove a dead member from etcd's member list
		kubectl etcd member remove statefulset/main 8e9e05c52164694d`)
	return group
}

// listShows returns the command that shows the effect of an operation whose end is unknown.
func listShows(c *app.Cluster, what string) string {
	return fmt.Sprintf("kubectl etcd member list %s -n %s shows %s", c.Target(), c.Namespace, what)
}
