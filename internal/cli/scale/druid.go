// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
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
	requested, size := false, policy.Count(o.replicas, "member")
	return change.Do(ctx, a, c, o.Flags, change.Operation{
		Verb: "scale", Needs: m.DruidNeeds(), Detaches: true,
		Judge: func(ctx context.Context) (operate.Plan, error) {
			m.Owner = c.Owner
			return m.PlanDruidScale(ctx, o.replicas, o.snapshot)
		},
		Already: func(ctx context.Context) error {
			if !o.Wait {
				return nil
			}
			return m.AwaitDruid(ctx, o.replicas)
		},
		DryRun: func(ctx context.Context) error { return m.TryDruidScale(ctx, o.replicas) },
		Act: func(ctx context.Context, run *change.Run) error {
			m.StillHeld = run.Held
			done := "%s: scale to %s requested"
			err := m.ScaleDruid(ctx, o.replicas, func(ctx context.Context) (wait bool) {
				requested = true
				run.Done(ctx, reasons.Scaled, "scale to "+size, "")
				return o.Wait
			})
			if err != nil {
				return err
			}
			if o.Wait {
				done = "%s scaled to %s"
			}
			run.Print(done, c.Target(), size)
			return nil
		},
		Next: func(error) string {
			if !requested {
				return ""
			}
			return "etcd-druid continues. Run the same command again to wait for it"
		},
	})
}
