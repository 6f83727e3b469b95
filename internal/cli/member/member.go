// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package member implements kubectl etcd member.
package member

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// NewCommand returns the command member.
func NewCommand(e *app.App) *cobra.Command {
	group := ui.NewGroupCmd("member", "See and change who etcd's members are",
		newMemberAddCmd(e),
		newMemberListCmd(e),
		newMemberPromoteCmd(e),
		newMemberRemoveCmd(e),
		newMemberReplaceCmd(e),
	)
	group.Example = ui.Examples(`
		# Give a pod that has lost its data a new member
		kubectl etcd member replace main-1

		# Take a dead member out of etcd
		kubectl etcd member remove statefulset/main 8e9e05c52164694d`)
	return group
}

// memberNeeds are the permissions that a change of etcd's members alone uses.
func memberNeeds(c *app.Cluster) []operate.Need {
	return []operate.Need{
		{Verb: "list", Resource: "pods", Namespace: c.Namespace},
		{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace},
	}
}

// unmanaged refuses what the owner of a cluster's membership does itself.
func unmanaged(c *app.Cluster, what string) error {
	if m := c.Membership(); m.Manager != flavour.Unmanaged {
		return app.Refused("cannot %s %s: %s adds and removes its members; %s", what, c.Owner, m.ManagerName, m.ScaleHow)
	}
	if c.ReadOnly() {
		return app.Refused("cannot %s %s: its pods have no StatefulSet", what, c.Owner)
	}
	return nil
}
