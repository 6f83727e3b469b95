// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package defrag implements kubectl etcd defrag.
package defrag

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// NewCommand returns the command defrag.
func NewCommand(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: time.Hour}
	cmd := &cobra.Command{
		Use:   "defrag TARGET",
		Short: "Defragment the members' databases, one member at a time",
		Long: ui.Paragraphs(`
			Defragment the members' databases, one member at a time. This releases unused disk space.
			The leader is last, and transfers leadership first. A member answers no requests during its
			defragmentation, which takes about one second per gigabyte. It needs as much free disk space
			as it has data.

			The command checks the whole cluster before each member. It stops if a member is unhealthy,
			if there is a learner, or if a client reads a snapshot from any member. A defragmentation
			would wait for that snapshot, and every write would wait for the defragmentation.

			If a NOSPACE alarm is raised, the command first compacts the history. After the
			defragmentation it checks that the databases have free space, and disarms the alarm.`),
		Example: ui.Examples(`
			# Print the plan and change nothing
			kubectl etcd defrag etcd-main --dry-run=client

			# Defragment all members without a question
			kubectl etcd defrag etcd-main -y`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), e, args[0], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func run(ctx context.Context, a *app.App, target string, f change.Flags) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	d := &maintenance.Defragmentation{Job: change.Maintenance(a, c), Cluster: c.String()}
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "defrag", Needs: change.ThroughTunnel(c), AllowsAwaited: true, // no member is added while etcd is out of space
		Judge: func(ctx context.Context) (operate.Plan, error) {
			d.Members = c.Members
			return d.Judge(ctx)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			d.StillHeld = run.Held
			if err := d.Run(ctx); err != nil {
				return exitCode(err)
			}
			what, line := "defragmented every member", "%s is defragmented."
			if d.Cure {
				what, line = "compacted and defragmented every member, and disarmed NOSPACE", "%s is defragmented and accepts writes again."
			}
			run.Done(ctx, reasons.Defragmented, what, fmt.Sprintf(line, c.Owner))
			return nil
		},
	})
}

// exitCode returns the error with the exit code for an operation that a rule stopped, or that
// didn't free enough space.
func exitCode(err error) error {
	stopped, ok := errors.AsType[*maintenance.StoppedError](err)
	switch {
	case app.Is[*maintenance.FullError](err), ok && (stopped.Verdict.Reason == policy.MemberDown || len(stopped.Done) > 0):
		return app.Unhealthy("%s", err)
	case ok:
		return app.Refused("%s", err)
	}
	return err
}
