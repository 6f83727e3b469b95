// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// scaleDruid scales through etcd-druid, which adds and promotes the members itself.
func scaleDruid(ctx context.Context, a *app.App, c *app.Cluster, o scaleOptions) error {
	if o.abort {
		return app.Refused("cannot undo a scale of %s: etcd-druid scales it and continues until it is complete. kubectl etcd status etcd/%s -n %s shows the progress", c.Owner, c.Name, c.Namespace)
	}
	m, err := change.Members(a, c)
	if err != nil {
		return err
	}
	defer m.Close()
	requested := false
	return change.Do(ctx, a, c, o.Flags, change.Operation{
		Verb: "scale", Needs: m.DruidNeeds(), Detaches: true,
		Judge: func(ctx context.Context) (operate.Plan, error) { return druidPlan(ctx, c, m, o) },
		Already: func(ctx context.Context) error {
			if !o.Wait {
				return nil
			}
			return m.AwaitDruid(ctx, o.replicas, nil)
		},
		DryRun: func(ctx context.Context) error { return m.ScaleDruid(ctx, o.replicas, true) },
		Act: func(ctx context.Context, run *change.Run) error {
			m.StillHeld = run.Held
			if err := m.ScaleDruid(ctx, o.replicas, false); err != nil {
				return err
			}
			requested = true
			return awaitDruid(ctx, c, m, o, run)
		},
		Next: func(error) string {
			if !requested {
				return ""
			}
			return "etcd-druid continues. Run the same command again to wait for it"
		},
	})
}

// druidPlan returns the plan to scale an Etcd. Before all members stop, there must be a snapshot.
func druidPlan(ctx context.Context, c *app.Cluster, m *membership.Members, o scaleOptions) (operate.Plan, error) {
	m.Owner = c.Owner
	plan, err := m.PlanDruidScale(ctx, o.replicas)
	if err != nil || plan.Title == "" || o.replicas > 0 {
		return plan, err
	}
	fact, err := m.SavedBefore(ctx, o.snapshot)
	plan.Facts = append(plan.Facts, fact)
	return plan, err
}

// awaitDruid records that the scale is requested, and waits until etcd-druid has completed it, unless the user
// doesn't wait.
func awaitDruid(ctx context.Context, c *app.Cluster, m *membership.Members, o scaleOptions, run *change.Run) error {
	size := policy.Count(o.replicas, "member")
	run.Done(ctx, reasons.Scaled, "scale to "+size, "")
	if !o.Wait {
		run.Print("%s: scale to %s requested", c.Target(), size)
		return nil
	}
	if err := m.AwaitDruid(ctx, o.replicas, m.ReconcileDruid); err != nil {
		return err
	}
	run.Print("%s scaled to %s", c.Target(), size)
	return nil
}
