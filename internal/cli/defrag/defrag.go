// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

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
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func NewCommand(e *app.App) *cobra.Command {
	ch := change.Flags{Timeout: time.Hour}
	cmd := &cobra.Command{
		Use:   "defrag TARGET",
		Short: "Give free space of the members' databases back, one member at a time",
		Long: ui.Paragraphs(`
			Give free space of the members' databases back to their disks, one member at a time, the leader
			last and after it has handed over. A member answers nobody meanwhile, for about a second per
			gigabyte, and needs as much free disk as it keeps data.

			Before each member the whole cluster is looked at. It stops where a member is not well, where a
			learner is there, and where a snapshot is being read from any member: a defragmentation waits
			for that snapshot, and every write waits for the defragmentation.

			Where etcd is out of space (alarm NOSPACE) it does the whole cure: it compacts the history,
			defragments all members, verifies that there is room, and disarms the alarm.`),
		Example: ui.Examples(`
			# See what it would do
			kubectl etcd defrag etcd-main --dry-run=client

			# Do it
			kubectl etcd defrag etcd-main -y`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !ch.Wait {
				return errors.New("--wait=false is not possible here: the members are done one after the other, by this command")
			}
			return run(cmd.Context(), e, args[0], ch)
		},
	}
	change.AddFlags(cmd, &ch)
	return cmd
}

func run(ctx context.Context, e *app.App, target string, ch change.Flags) error {
	c, err := e.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := change.Idle(ctx, e, c); err != nil {
		return err
	}
	state, err := change.Maintenance(e, c, nil).Look(ctx)
	if err != nil {
		return err
	}
	verdict := policy.MayDefrag(state.Cluster, state.Databases, state.Strays)
	if !verdict.Allowed {
		return app.Refused("%s can't be defragmented now: %s", c.Owner, verdict.Message)
	}
	if ch.DryRun != change.DryRunClient {
		if err := change.Require(ctx, e, c, append(change.ThroughTunnel(c), change.ReadsJournal(c)...)); err != nil {
			return err
		}
	}
	cure := policy.OutOfSpace(state.Databases, state.Strays)
	if proceed, err := change.Propose(ctx, e, c, defragPlan(c, state, verdict, cure), ch); err != nil || !proceed {
		return err
	}
	if ch.DryRun == change.DryRunServer {
		change.TriedOnly(e)
		return nil
	}
	ctx, cancel := app.Within(ctx, ch.Timeout, "defragment "+target)
	defer cancel()
	lock, err := change.HoldIdle(ctx, e, c, "defrag", ch)
	if err != nil {
		return err
	}
	defer change.Release(ctx, e, lock)
	if err := stopped(defragment(lock.Context(), e, c, change.Maintenance(e, c, lock.Held), state, cure)); err != nil {
		return err
	}
	done := "defragmented every member"
	if cure {
		done = "compacted and defragmented every member, and disarmed NOSPACE"
	}
	change.Announce(ctx, e, c, "Defragmented", done, ch)
	return nil
}

func defragment(ctx context.Context, e *app.App, c *app.Cluster, m *operate.Maintenance, state operate.State, cure bool) error {
	if cure {
		if err := m.Compact(ctx, state); err != nil {
			return err
		}
	}
	if err := m.Defragment(ctx); err != nil {
		return err
	}
	if !cure {
		fmt.Fprintf(e.Out, "%s is defragmented.\n", c.Owner)
		return nil
	}
	verdict, err := m.DisarmNoSpace(ctx)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		return app.Unhealthy("%s is defragmented and still out of space: %s", c.Owner, verdict.Message)
	}
	fmt.Fprintf(e.Out, "%s is defragmented and takes writes again.\n", c.Owner)
	return nil
}

// stopped gives an operation that a rule ended half-way its exit code.
func stopped(err error) error {
	if s, ok := errors.AsType[*operate.StoppedError](err); ok {
		if s.Verdict.Reason == policy.MemberDown || len(s.Done) > 0 {
			return app.Unhealthy("%s", err)
		}
		return app.Refused("%s", err)
	}
	return err
}

func defragPlan(c *app.Cluster, s operate.State, v policy.Verdict, cure bool) operate.Plan {
	order := policy.DefragOrder(s.Databases)
	plan := operate.Plan{
		Title: fmt.Sprintf("Defragment %s", c.Owner),
		Facts: append(change.DatabaseFacts(s.Databases), v.Message, "no snapshot is being read"),
	}
	step := func(format string, args ...any) { plan.Steps = append(plan.Steps, fmt.Sprintf(format, args...)) }
	if cure {
		step("compact the history of all keys up to now")
		plan.Warnings = append(plan.Warnings, "Watches that are behind the compacted revision must list again.")
	}
	last := len(order) - 1
	if last > 0 {
		step("defragment %s, one after the other, looking at the whole cluster before each", strings.Join(order[:last], ", "))
		step("have the leader %s hand over, and defragment it", order[last])
	} else {
		step("defragment %s", order[last])
		plan.Warnings = append(plan.Warnings, "It is the only member: nobody is answered until it is done.")
	}
	if cure {
		step("verify that every database leaves room, and disarm %s", policy.NoSpace)
	}
	for _, n := range v.Notes {
		plan.Warnings = append(plan.Warnings, n.Message+".")
	}
	return plan
}
