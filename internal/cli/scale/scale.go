// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package scale implements kubectl etcd scale.
package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// scaleOptions are the flags of scale.
type scaleOptions struct {
	change.Flags

	replicas int
	// abort undoes an unfinished scale.
	abort      bool
	keepClaims bool
	// snapshot is a file, which is required to scale an Etcd to 0.
	snapshot string
}

// NewCommand returns the command scale.
func NewCommand(e *app.App) *cobra.Command {
	o := scaleOptions{Flags: change.Flags{Timeout: 15 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "scale TARGET --replicas N",
		Short: "Change the number of members",
		Long: ui.Paragraphs(`
			Change the number of members of an etcd cluster, one member at a time. The cluster keeps a
			healthy quorum during every step.

			For an Etcd, the command sets its replicas, and waits until etcd-druid has added or removed
			the members. For a StatefulSet without an operator, the command does all steps itself. A new
			member joins as a learner, and becomes a voter when it has caught up. A member that is
			removed transfers leadership first; then the command deletes its pod and volume claim. No
			other pod restarts. For a cluster that another operator or a start script manages, the
			command refuses and shows what to use instead.

			The command keeps its progress in ConfigMap kubectl-etcd-NAME. After an interruption, run the
			same command again to continue, or use --abort to remove a new member that is not a voter yet.
			When --timeout has passed, the command removes such a member itself.

			If a restore that adds its members last was interrupted before that, this command adds them.
			Then --abort leaves the cluster with the members that it has.`),
		Example: ui.Examples(`
			# Print the plan for five members and change nothing
			kubectl etcd scale statefulset/main --replicas 5 --dry-run=client

			# Scale to five members
			kubectl etcd scale statefulset/main --replicas 5

			# Undo the unfinished step of an interrupted scale command
			kubectl etcd scale statefulset/main --abort`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !o.abort && !cmd.Flags().Changed("replicas") {
				return fmt.Errorf("either --replicas or --abort is required")
			}
			if o.replicas < 0 {
				return fmt.Errorf("--replicas is %d, but it must not be negative", o.replicas)
			}
			return run(cmd.Context(), e, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.replicas, "replicas", 0, "New number of members")
	flags.BoolVar(&o.abort, "abort", false, "Undo the unfinished step of a scale. All other flags are ignored")
	flags.BoolVar(&o.keepClaims, "keep-pvc", false, "Keep the volume claims of removed members")
	flags.StringVar(&o.snapshot, "after-snapshot", "", "File with a snapshot of this cluster. Required to scale an Etcd to 0")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

func run(ctx context.Context, e *app.App, target string, o scaleOptions) error {
	c, err := e.Owner(ctx, target)
	if err != nil {
		return err
	}
	kept, err := change.ReadJournal(ctx, c)
	if err != nil {
		return err
	}
	if o.abort {
		if awaits, err := membership.AwaitsScale(ctx, c.Kube, c.Owner, kept); err != nil {
			return err
		} else if awaits {
			return leave(ctx, e, c, o.Flags)
		}
	}
	if c.Membership().ByPlugin && !kept.OfMembers() {
		return scaleDruid(ctx, e, c, o)
	}
	return scaleStatefulSet(ctx, e, c, o)
}

func scaleStatefulSet(ctx context.Context, e *app.App, c *app.Cluster, o scaleOptions) error {
	m, err := change.Members(e, c)
	if err != nil {
		return err
	}
	defer m.Close()
	var ended *journal.Journal
	t := &change.MembersTask{
		Members: m, Undo: o.abort, Verb: "scale", Event: reasons.Scaled, Undone: reasons.ScaledUndone,
		What: "scaled to " + policy.Count(o.replicas, "member"),
		Read: func(ctx context.Context) (*membership.Change, error) {
			return membership.ReadScale(ctx, c.Kube, c.Owner, o.replicas)
		},
		Plan: func(ctx context.Context) (*membership.Change, operate.Plan, error) {
			j, plan, err := m.PlanScale(ctx, o.replicas, o.keepClaims)
			if err == nil && j == nil {
				ended, plan, err = membership.PlanEnd(ctx, c.Kube, c.Owner, plan)
			}
			return j, plan, err
		},
		Finish: func(ctx context.Context, run *change.Run) error {
			return end(ctx, run, c, ended, reasons.Scaled, "scale after a restore had nothing left to do")
		},
		Continues: func(_ context.Context, j *membership.Change) error {
			return j.ContinuesScale(c.Owner, o.replicas, o.keepClaims, o.abort)
		},
	}
	return change.Do(ctx, e, c, o.Flags, t.Operation(e, c))
}
