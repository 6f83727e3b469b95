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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
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
		given := ""
		if n := cmd.Flag("namespace"); n != nil && n.Changed {
			given = " -n " + n.Value.String()
		}
		return fmt.Errorf("the pod of the new leader is the value of --to: kubectl etcd move-leader %s --to %s%s", args[0], args[1], given)
	}
	return cobra.ExactArgs(1)(cmd, args)
}

func run(ctx context.Context, a *app.App, target, to string, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	t := &maintenance.Transfer{Cluster: c.String(), To: to, Clock: a.Clock}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "move-leader", Needs: change.ThroughTunnel(c),
		AllowsUnfinished: true, // a change can wait for another leader, and transfers leadership itself
		Judge: func(ctx context.Context) (operate.Plan, error) {
			t.Members = c.Members
			return t.Judge(ctx)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := t.Run(ctx, run.Held); err != nil {
				return err
			}
			run.Done(ctx, reasons.LeaderMoved, fmt.Sprintf("moved the leadership from %s to %s", t.From, t.To),
				fmt.Sprintf("%s is now the leader of %s, instead of %s.", t.To, c.Owner, t.From))
			return nil
		},
		Next: func(error) string {
			return fmt.Sprintf("kubectl etcd status %s -n %s shows which member leads now", c.Target(), c.Namespace)
		},
	})
}
