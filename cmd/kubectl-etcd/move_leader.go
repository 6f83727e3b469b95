// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func newMoveLeaderCmd(e *env) *cobra.Command {
	ch := change{timeout: 2 * time.Minute}
	var to string
	cmd := &cobra.Command{
		Use:   "move-leader TARGET [--to POD]",
		Short: "Hand the leadership to another member",
		Long: paragraphs(`
			Hand the leadership to another member: to the one in the pod of --to, or else to the voter
			that is healthy and has got furthest.

			Writes wait for an election, which takes a moment; nothing restarts. A learner, a member that
			is not well, and one that is more than 1,000 entries behind can't lead.`),
		Example: examples(`
			# To the best follower
			kubectl etcd move-leader etcd-main

			# Away from a node, before it is drained
			kubectl etcd move-leader etcd-main --to etcd-main-2 -y --reason "drain of node-1"`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return moveLeader(cmd.Context(), e, args[0], to, ch)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "Pod of the member that is to lead; empty for the best one")
	addChangeFlags(cmd, &ch)
	return cmd
}

func moveLeader(ctx context.Context, e *env, target, to string, ch change) error {
	c, err := e.cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	survey, err := c.members.Survey(ctx)
	if err != nil {
		return err
	}
	databases := operate.Databases(survey)
	if to, err = successor(c, databases, to); err != nil {
		return err
	}
	from := leaderOf(databases)
	if from == to {
		fmt.Fprintf(e.Out, "%s leads %s already.\n", to, c.Owner)
		return nil
	}
	if ch.dryRun != dryRunClient {
		if err := e.require(ctx, c, throughTunnel(c)); err != nil {
			return err
		}
	}
	plan := operate.Plan{
		Title: fmt.Sprintf("Move the leadership of %s from %s to %s", c.Owner, from, to),
		Facts: databaseFacts(databases),
		Steps: []string{fmt.Sprintf("have %s hand over to %s: writes wait for an election", from, to)},
	}
	if proceed, err := e.propose(ctx, c, plan, ch); err != nil || !proceed {
		return err
	}
	if ch.dryRun == dryRunServer {
		e.triedOnly()
		return nil
	}
	ctx, cancel := within(ctx, ch.timeout, "move the leadership of "+target)
	defer cancel()
	lock, err := e.hold(ctx, c, "move-leader", ch)
	if err != nil {
		return err
	}
	defer e.release(ctx, lock)
	if err := lock.Held(); err != nil {
		return err
	}
	if err := operate.MoveLeader(lock.Context(), c.members, survey, to); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s leads %s, instead of %s.\n", to, c.Owner, from)
	e.announce(ctx, c, "LeaderMoved", fmt.Sprintf("moved the leadership from %s to %s", from, to), ch)
	return nil
}

// successor is the pod that is to lead, as asked for or chosen.
func successor(c *cluster, databases []policy.Database, to string) (string, error) {
	if to != "" {
		if v := policy.MayLead(databases, to); !v.Allowed {
			return "", refused("%s can't lead %s: %s", to, c.Owner, v.Message)
		}
		return to, nil
	}
	if len(databases) == 1 {
		return "", refused("%s has one member: there is no other to lead it", c.Owner)
	}
	to, ok := policy.Successor(databases)
	if ok {
		return to, nil
	}
	for _, d := range databases {
		if v := policy.MayLead(databases, d.Pod); !d.Leader && !v.Allowed {
			return "", refused("no other member can lead %s: %s", c.Owner, v.Message)
		}
	}
	return "", refused("no other member can lead %s", c.Owner)
}
