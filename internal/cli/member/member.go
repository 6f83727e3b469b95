// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

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
	return append([]operate.Need{
		{Verb: "list", Resource: "pods", Namespace: c.Namespace},
		{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace},
	}, change.ReadsJournal(c)...)
}

// unmanaged refuses what the owner of a cluster's membership does itself.
func unmanaged(c *app.Cluster, what string) error {
	if m := c.Membership(); m.Manager != observe.ByNobody {
		return app.Refused("cannot %s %s: %s adds and removes its members; %s", what, c.Owner, m.Who, m.Way)
	}
	if c.ReadOnly() {
		return app.Refused("cannot %s %s: its pods have no StatefulSet", what, c.Owner)
	}
	return nil
}

// memberTask is one change of etcd's member list.
type memberTask struct {
	change.Flags

	plan operate.Plan
	// verb is what the lock is for; event and what are the Event's reason and words.
	verb, event, what string
	act               func(ctx context.Context, members *etcd.Cluster, held func() error) error
}

// changeList asks, takes the lock, and does what the task says.
func changeList(ctx context.Context, e *app.App, c *app.Cluster, t memberTask) error {
	if t.DryRun != change.DryRunClient {
		if err := change.Require(ctx, e, c, memberNeeds(c)); err != nil {
			return err
		}
	}
	yes, err := change.Propose(ctx, e, c, t.plan, t.Flags)
	if err != nil || !yes {
		return err
	}
	if t.DryRun == change.DryRunServer {
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	ctx, cancel := app.Within(ctx, t.Timeout, t.plan.Title)
	defer cancel()
	lock, err := change.HoldIdle(ctx, e, c, t.verb, t.Flags)
	if err != nil {
		return err
	}
	defer change.Release(ctx, e, lock)
	if err := t.act(lock.Context(), c.Members, lock.Held); err != nil {
		return err
	}
	change.Announce(lock.Context(), e, c, t.event, t.what, t.Flags)
	fmt.Fprintf(e.Out, "%s: %s\n", c.Target(), t.what)
	return nil
}
