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
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

type scaleOptions struct {
	change.Flags

	replicas int
	// abort undoes a scale that was begun.
	abort      bool
	keepClaims bool
	// snapshot is a file, needed before an Etcd is scaled to 0.
	snapshot string
}

// NewCommand returns the command scale.
func NewCommand(e *app.App) *cobra.Command {
	o := scaleOptions{Flags: change.Flags{Timeout: 15 * time.Minute}}
	cmd := &cobra.Command{
		Use:   "scale TARGET --replicas N",
		Short: "Change the number of members",
		Long: ui.Paragraphs(`
			Change the number of members of an etcd cluster, one at a time and never below a quorum
			that is healthy.

			An Etcd is scaled by etcd-druid: this sets its replicas, has druid reconcile, and watches
			until all members vote. A StatefulSet that nobody looks after is scaled here: each new
			member is told of the others, joins as a learner, and votes once it has caught up; a
			member that goes gives up leadership, leaves etcd, and then its pod and volume go.
			Nobody else restarts. Clusters of other operators and of start scripts are refused with
			their own way.

			What was found before the first step stands in ConfigMap kubectl-etcd-NAME until the last:
			run the same command again to go on after an interruption, or with --abort to take back
			what has no vote yet. That also happens when --timeout has passed.`),
		Example: ui.Examples(`
			# Look at the plan for five members
			kubectl etcd scale statefulset/main --replicas 5 --dry-run=client

			# Do it
			kubectl etcd scale statefulset/main --replicas 5

			# Take back what an interrupted scale has begun
			kubectl etcd scale statefulset/main --abort`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.abort == cmd.Flags().Changed("replicas") {
				return fmt.Errorf("either --replicas or --abort must be given")
			}
			if o.replicas < 0 {
				return fmt.Errorf("--replicas is %d, and can't be less than 0", o.replicas)
			}
			return run(cmd.Context(), e, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.replicas, "replicas", 0, "How many members there shall be")
	flags.BoolVar(&o.abort, "abort", false, "Take back a scale that was begun")
	flags.BoolVar(&o.keepClaims, "keep-pvc", false, "Keep the volume claims of members that go")
	flags.StringVar(&o.snapshot, "after-snapshot", "", "File with a snapshot of this cluster; needed before an Etcd is scaled to 0")
	change.AddFlags(cmd, &o.Flags)
	return cmd
}

func run(ctx context.Context, e *app.App, target string, o scaleOptions) error {
	c, err := e.Owner(ctx, target)
	if err != nil {
		return err
	}
	m := c.Membership()
	switch {
	case c.Flavour == observe.Druid:
		return scaleDruid(ctx, e, c, o)
	case m.Manager != flavour.Unmanaged || c.ReadOnly():
		return app.Refused("cannot scale %s: %s adds and removes its members; %s", c.Owner, m.ManagerName, m.ScaleHow)
	}
	return scaleStatefulSet(ctx, e, c, o)
}

func scaleStatefulSet(ctx context.Context, e *app.App, c *app.Cluster, o scaleOptions) error {
	m, err := change.Members(e, c)
	if err != nil {
		return err
	}
	defer m.Close()
	j, err := membership.ReadChange(ctx, c.Kube, c.Owner)
	if err != nil {
		return err
	}
	t := &change.MembersTask{
		Members: m, Planned: j, Undo: o.abort, Verb: "scale", Event: reasons.Scaled, Undone: reasons.ScaledUndone,
		What: "scaled to " + format.Members(o.replicas),
	}
	switch {
	case j == nil && o.abort:
		fmt.Fprintf(e.ErrOut, "No change of the members of %s is under way: there is nothing to abort.\n", c.Owner)
		return nil
	case j == nil:
		t.Again = func(ctx context.Context) (*membership.Change, operate.Plan, error) {
			return m.PlanScale(ctx, o.replicas, o.keepClaims)
		}
		if t.Planned, t.Plan, err = t.Again(ctx); err != nil {
			return err
		}
		if t.Planned == nil {
			fmt.Fprintf(e.ErrOut, "%s has %s already.\n", c.Owner, format.Members(o.replicas))
			return nil
		}
		t.Fresh = true
	case j.Operation == rules.Replace:
		return app.Refused("%s is being replaced: finish it with kubectl etcd member replace %s, or undo it with --abort there", m.Owner.PodName(j.Ordinal), m.Owner.PodName(j.Ordinal))
	case !o.abort && !j.Undo && j.Target != o.replicas:
		return app.Refused("a scale of %s to %s is under way: finish it with --replicas %d, or undo it with --abort", c.Owner, format.Members(j.Target), j.Target)
	default:
		if t.Plan, err = m.PlanResume(ctx, j, o.abort); err != nil {
			return err
		}
	}
	return change.Do(ctx, e, c, o.Flags, t.Operation(e, c))
}
