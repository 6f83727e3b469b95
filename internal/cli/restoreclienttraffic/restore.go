// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restoreclienttraffic implements kubectl etcd restore-client-traffic.
package restoreclienttraffic

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// NewCommand returns the command restore-client-traffic.
func NewCommand(a *app.App) *cobra.Command {
	f := change.Flags{Timeout: 2 * time.Minute}
	cmd := &cobra.Command{
		Use:   "restore-client-traffic TARGET",
		Short: "Let clients reach an etcd cluster again",
		Long: ui.Paragraphs(`
			Let clients reach an etcd cluster again, before the end of a cut. The command removes the key
			of cut-client-traffic from the selector of the client Service and nothing else. If that
			command has suspended the reconciliation of etcd-druid, this one resumes it. On a cluster
			that isn't cut, it only removes the record of a cut that has ended.

			It refuses while a restore, a recovery or a coordinated restart is unfinished: these restore client
			traffic at their end, and before that, clients could reach members without data.`),
		Example: ui.Examples(`
			# Restore before the end of the cut
			kubectl etcd restore-client-traffic etcd-main

			# In a script, with a reason for other users
			kubectl etcd restore-client-traffic etcd-main -y --reason "the restore is done"`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, a, args[0], f)
		},
	}
	change.AddFlags(cmd, &f)
	ui.AddOutputFlags(cmd)
	return cmd
}

// run restores client traffic and waits until clients find a member.
func run(cmd *cobra.Command, a *app.App, target string, f change.Flags) error {
	ctx := cmd.Context()
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	t := change.Traffic(a, c, target, f)
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: traffic.RestoreOperation, Needs: change.ReadsJournal(c), AllowsUnfinished: true, Detaches: true,
		Judge: func(ctx context.Context) (operate.Plan, error) {
			t.Owner = c.Owner
			plan, err := t.JudgeRestore(ctx)
			if err != nil || t.NothingToRestore() {
				return plan, err
			}
			return plan, change.UnfinishedCut(ctx, a, c)
		},
		Act: func(ctx context.Context, run *change.Run) error {
			switch {
			case !t.NothingToRestore():
				return run.RestoreLocked(ctx, t.Names())
			case t.Record != nil:
				return removeRecord(ctx, a, run)
			}
			return nil // another client has restored it since the question
		},
		Already: func(context.Context) error {
			a.Step("Client traffic of %s is not cut", t.Owner)
			return a.Print(cmd, change.TrafficReport(t, traffic.Effect{}), noTable)
		},
		After: func(ctx context.Context, limit app.Limit) error {
			var effect traffic.Effect
			if f.Wait && len(t.Names()) > 0 {
				ctx, cancel := limit.Context(ctx)
				defer cancel()
				if effect, err = t.AwaitRestored(ctx); err != nil {
					return err
				}
			}
			return a.Print(cmd, change.TrafficReport(t, effect), noTable)
		},
		Next: func(error) string { return t.Left() },
	})
}

// removeRecord removes the record of a cut that has ended.
func removeRecord(ctx context.Context, a *app.App, run *change.Run) error {
	if err := traffic.WriteRecord(ctx, run.Lock, nil); err != nil {
		return err
	}
	a.Step("The record of the cut is removed")
	run.Done(ctx, reasons.ClientTrafficRestored, "record of a cut of client traffic that has ended removed", "")
	return nil
}

// noTable prints nothing: all is reported already.
func noTable(io.Writer, bool) error { return nil }
