// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package member implements kubectl etcd member.
package member

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
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

// memberNeeds returns the permissions of an operation that only changes etcd's member list.
func memberNeeds(c *app.Cluster) []operate.Need {
	return []operate.Need{
		{Verb: "list", Resource: "pods", Namespace: c.Namespace},
		{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace},
	}
}

// listShows returns the command that shows the effect of an operation whose end is unknown.
func listShows(c *app.Cluster, what string) string {
	return fmt.Sprintf("kubectl etcd member list %s -n %s shows %s", c.Target(), c.Namespace, what)
}

// openUnmanaged returns a cluster with its members, or an error if something else manages them. The caller
// must close it.
func openUnmanaged(ctx context.Context, a *app.App, target, what string) (*app.Cluster, error) {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return nil, err
	}
	if err := unmanaged(c, what); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// unmanaged returns an error if an operator or a start script manages the members of a cluster,
// or if the cluster has no StatefulSet.
func unmanaged(c *app.Cluster, what string) error {
	if m := c.Membership(); m.Manager != flavour.Unmanaged && m.Manager != flavour.BySets {
		return app.Refused("cannot %s %s: %s adds and removes its members; %s", what, c.Owner, m.ManagerName, m.ScaleHow)
	}
	if c.WithoutStatefulSet() {
		return app.Refused("cannot %s %s: its pods have no StatefulSet", what, c.Owner)
	}
	return nil
}
