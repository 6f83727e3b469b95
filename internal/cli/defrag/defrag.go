// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package defrag implements kubectl etcd defrag.
package defrag

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
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

			If a NOSPACE alarm is raised, the command also compacts the history before, checks that the
			databases have free space after, and disarms the alarm.`),
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
	var state maintenance.State
	var cure bool
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "defrag", Needs: change.ThroughTunnel(c),
		Judge: func(ctx context.Context) (operate.Plan, error) {
			if state, err = change.Maintenance(a, c, nil).ReadState(ctx); err != nil {
				return operate.Plan{}, err
			}
			verdict := rules.MayDefrag(state.Cluster, state.Databases, state.UnmappedAlarms)
			if !verdict.Allowed {
				return operate.Plan{}, app.Refused("%s can't be defragmented now: %s", c.Owner, verdict.Message)
			}
			cure = rules.OutOfSpace(state.Databases, state.UnmappedAlarms)
			return defragPlan(c, state, verdict, cure), nil
		},
		Act: func(ctx context.Context, run *change.Run) error {
			if err := stopped(defragment(ctx, c, change.Maintenance(a, c, run.Held), state, cure)); err != nil {
				return err
			}
			what, line := "defragmented every member", "%s is defragmented."
			if cure {
				what, line = "compacted and defragmented every member, and disarmed NOSPACE", "%s is defragmented and accepts writes again."
			}
			run.Done(ctx, reasons.Defragmented, what, fmt.Sprintf(line, c.Owner))
			return nil
		},
	})
}

func defragment(ctx context.Context, c *app.Cluster, m *maintenance.Job, state maintenance.State, cure bool) error {
	if cure {
		if err := m.Compact(ctx, state); err != nil {
			return err
		}
	}
	if err := m.Defragment(ctx); err != nil {
		return err
	}
	if !cure {
		return nil
	}
	verdict, err := m.DisarmNoSpace(ctx)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return app.Unhealthy("%s is defragmented and still out of space: %s", c.Owner, verdict.Message)
	}
	return nil
}

// stopped returns the error with the exit code for an operation that a rule stopped.
func stopped(err error) error {
	if s, ok := errors.AsType[*maintenance.StoppedError](err); ok {
		if s.Verdict.Reason == policy.MemberDown || len(s.Done) > 0 {
			return app.Unhealthy("%s", err)
		}
		return app.Refused("%s", err)
	}
	return err
}

func defragPlan(c *app.Cluster, s maintenance.State, v policy.Verdict, cure bool) operate.Plan {
	order := rules.DefragOrder(s.Databases)
	plan := operate.Plan{
		Title: fmt.Sprintf("Defragment %s", c.Owner),
		Facts: append(change.DatabaseFacts(s.Databases), v.Message, "no snapshot is being read"),
		// Another leader, or another member, is another order of the steps.
		Subject: strings.Join(order, " "),
	}
	step := func(format string, args ...any) { plan.Steps = append(plan.Steps, fmt.Sprintf(format, args...)) }
	if cure {
		plan.Title += " and disarm " + rules.NoSpace
		step("compact the history of all keys up to now")
		plan.Warnings = append(plan.Warnings, "Clients that watch from a revision before the compacted one must list again.")
	}
	last := len(order) - 1
	if last > 0 {
		step("defragment %s, one after the other, and check the whole cluster before each", strings.Join(order[:last], ", "))
		step("transfer leadership away from %s, and defragment it", order[last])
	} else {
		step("defragment %s", order[last])
		plan.Warnings = append(plan.Warnings, "It is the only member: etcd answers no requests until the defragmentation ends.")
	}
	if cure {
		step("check that every database has free space, and disarm %s", rules.NoSpace)
	}
	for _, n := range v.Notes {
		plan.Warnings = append(plan.Warnings, n.Message+".")
	}
	return plan
}
