// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package moveleader

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func NewCommand(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 2 * time.Minute}
	var to string
	cmd := &cobra.Command{
		Use:   "move-leader TARGET [--to POD]",
		Short: "Hand the leadership to another member",
		Long: ui.Paragraphs(`
			Hand the leadership to another member: to the one in the pod of --to, or else to the voter
			that is healthy and has got furthest.

			Writes wait for an election, which takes a moment; nothing restarts. A learner, a member that
			is not well, and one that is more than 1,000 entries behind can't lead.`),
		Example: ui.Examples(`
			# To the best follower
			kubectl etcd move-leader etcd-main

			# Away from a node, before it is drained
			kubectl etcd move-leader etcd-main --to etcd-main-2 -y --reason "drain of node-1"`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), e, args[0], to, ch)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "Pod of the member that is to lead; empty for the best one")
	change.AddFlags(cmd, &ch)
	return cmd
}

func run(ctx context.Context, e *app.App, target, to string, ch change.Flags) error {
	c, err := e.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	survey, err := c.Members.Survey(ctx)
	if err != nil {
		return err
	}
	databases := operate.Databases(survey)
	if to, err = successor(c, databases, to); err != nil {
		return err
	}
	from := change.LeaderOf(databases)
	if from == to {
		fmt.Fprintf(e.Out, "%s leads %s already.\n", to, c.Owner)
		return nil
	}
	if ch.DryRun != change.DryRunClient {
		if err := change.Require(ctx, e, c, change.ThroughTunnel(c)); err != nil {
			return err
		}
	}
	plan := operate.Plan{
		Title: fmt.Sprintf("Move the leadership of %s from %s to %s", c.Owner, from, to),
		Facts: change.DatabaseFacts(databases),
		Steps: []string{fmt.Sprintf("have %s hand over to %s: writes wait for an election", from, to)},
	}
	if proceed, err := change.Propose(ctx, e, c, plan, ch); err != nil || !proceed {
		return err
	}
	if ch.DryRun == change.DryRunServer {
		change.TriedOnly(e)
		return nil
	}
	ctx, cancel := app.Within(ctx, ch.Timeout, "move the leadership of "+target)
	defer cancel()
	lock, err := change.Hold(ctx, e, c, "move-leader", ch)
	if err != nil {
		return err
	}
	defer change.Release(ctx, e, lock)
	if err := lock.Held(); err != nil {
		return err
	}
	if err := operate.MoveLeader(lock.Context(), c.Members, survey, to); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s leads %s, instead of %s.\n", to, c.Owner, from)
	change.Announce(ctx, e, c, "LeaderMoved", fmt.Sprintf("moved the leadership from %s to %s", from, to), ch)
	return nil
}

// successor is the pod that is to lead, as asked for or chosen.
func successor(c *app.Cluster, databases []policy.Database, to string) (string, error) {
	if to != "" {
		if v := policy.MayLead(databases, to); !v.Allowed {
			return "", app.Refused("%s can't lead %s: %s", to, c.Owner, v.Message)
		}
		return to, nil
	}
	if len(databases) == 1 {
		return "", app.Refused("%s has one member: there is no other to lead it", c.Owner)
	}
	to, ok := policy.Successor(databases)
	if ok {
		return to, nil
	}
	for _, d := range databases {
		if v := policy.MayLead(databases, d.Pod); !d.Leader && !v.Allowed {
			return "", app.Refused("no other member can lead %s: %s", c.Owner, v.Message)
		}
	}
	return "", app.Refused("no other member can lead %s", c.Owner)
}
