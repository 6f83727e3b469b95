// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// leave ends a restore of which only a scale is left, and adds no member.
func leave(ctx context.Context, a *app.App, c *app.Cluster, f change.Flags) error {
	var awaits *journal.Journal
	return change.Do(ctx, a, c, f, change.Operation{
		Verb: "scale", AllowsUnfinished: true, Needs: membership.LeaveNeeds(c.Owner),
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			awaits, plan, err = membership.PlanLeave(ctx, c.Kube, c.Owner)
			return plan, err
		},
		Act: func(ctx context.Context, run *change.Run) error {
			return end(ctx, run, c, awaits, reasons.ScaledUndone, "scale after a restore was left out")
		},
	})
}

// end removes the journal of a restore of which only a scale was left.
func end(ctx context.Context, run *change.Run, c *app.Cluster, awaits *journal.Journal, event policy.Reason, what string) error {
	if err := run.Held(); err != nil {
		return err
	}
	if err := awaits.DeleteUnchanged(ctx, c.Kube); err != nil {
		return err
	}
	run.Done(ctx, event, what, fmt.Sprintf("%s: left with the members that it has", c.Target()))
	return nil
}
