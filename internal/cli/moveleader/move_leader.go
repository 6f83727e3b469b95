// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package moveleader implements kubectl etcd move-leader.
package moveleader

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// NewCommand returns the command move-leader.
func NewCommand(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: 2 * time.Minute}
	var to string
	cmd := &cobra.Command{
		Use:   "move-leader TARGET [--to POD]",
		Short: "Transfer leadership to another member",
		Long: ui.Paragraphs(`
			Transfer leadership to another member: the member in the pod of --to, or without --to the
			healthy voter that has applied the most entries.

			Writes wait for a short time until the new leader is elected. No pod restarts. The command
			refuses a learner, an unhealthy member, and a member that is more than 1,000 entries behind.`),
		Example: ui.Examples(`
			# Transfer leadership to the most advanced follower
			kubectl etcd move-leader etcd-main

			# Transfer leadership to a member on another node before a drain
			kubectl etcd move-leader etcd-main --to etcd-main-2 -y --reason "drain of node-1"`),
		Args: oneTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), e, args[0], to, ch)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "Pod of the new leader. The default is the most advanced follower")
	change.AddFlags(cmd, &ch)
	return cmd
}

// oneTarget accepts the cluster only. The pod is the value of a flag.
func oneTarget(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return fmt.Errorf("the pod of the new leader is the value of --to: kubectl etcd move-leader %s --to %s", args[0], args[1])
	}
	return cobra.ExactArgs(1)(cmd, args)
}

func run(ctx context.Context, a *app.App, target, to string, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	m := &move{app: a, cluster: c, to: to}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "move-leader", Needs: change.ThroughTunnel(c), Judge: m.judge, Act: m.act,
		Next: func(error) string {
			return fmt.Sprintf("kubectl etcd status %s -n %s shows which member leads now", c.Target(), c.Namespace)
		},
	})
}

// move is a transfer of leadership between the members of two pods. An empty to means the
// member that is furthest ahead.
type move struct {
	app      *app.App
	cluster  *app.Cluster
	survey   etcd.Survey
	from, to string
}

func (m *move) judge(ctx context.Context) (operate.Plan, error) {
	var err error
	if m.survey, err = m.cluster.Members.Survey(ctx); err != nil {
		return operate.Plan{}, err
	}
	databases := maintenance.Databases(m.survey)
	if m.to, err = successor(m.cluster, databases, m.to); err != nil {
		return operate.Plan{}, err
	}
	m.from = change.LeaderOf(databases)
	if m.from == m.to {
		return operate.Plan{Already: fmt.Sprintf("%s is already the leader of %s.", m.to, m.cluster.Owner)}, nil
	}
	return operate.Plan{
		Title: fmt.Sprintf("Move the leadership of %s from %s to %s", m.cluster.Owner, m.from, m.to),
		Facts: change.DatabaseFacts(databases),
		Steps: []string{fmt.Sprintf("transfer leadership from %s to %s; writes wait for the election", m.from, m.to)},
	}, nil
}

func (m *move) act(ctx context.Context, run *change.Run) error {
	if err := run.Held(); err != nil {
		return err
	}
	if err := maintenance.MoveLeader(ctx, m.cluster.Members, m.survey, m.to); err != nil {
		return err
	}
	run.Done(ctx, reasons.LeaderMoved, fmt.Sprintf("moved the leadership from %s to %s", m.from, m.to),
		fmt.Sprintf("%s is now the leader of %s, instead of %s.", m.to, m.cluster.Owner, m.from))
	return nil
}

// successor returns the pod of the new leader: to, or the most advanced follower.
func successor(c *app.Cluster, databases []rules.Database, to string) (string, error) {
	if to != "" {
		if v := rules.MayLead(databases, to); !v.Allowed {
			return "", app.Refused("%s can't become the leader of %s: %s", to, c.Owner, v.Message)
		}
		return to, nil
	}
	if len(databases) == 1 {
		return "", app.Refused("%s has only one member, which must stay the leader", c.Owner)
	}
	to, ok := rules.Successor(databases)
	if ok {
		return to, nil
	}
	for _, d := range databases {
		if v := rules.MayLead(databases, d.Pod); !d.Leader && !v.Allowed {
			return "", app.Refused("no other member can become the leader of %s: %s", c.Owner, v.Message)
		}
	}
	return "", app.Refused("no other member can lead %s", c.Owner)
}
