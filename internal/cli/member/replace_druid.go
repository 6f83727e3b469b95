// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// replaceDruid replaces a member by its pod's sidecar, which creates a new one.
func replaceDruid(ctx context.Context, e *app.App, c *app.Cluster, pod string, o replaceOptions) error {
	if o.abort {
		return app.Refused("cannot undo a replacement in %s: the sidecar continues until the member has rejoined", c.Owner)
	}
	m, err := change.Members(e, c)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Logs, err = e.Logs(c.Namespace); err != nil {
		return err
	}
	var planned *membership.DruidReplacement
	return change.Do(ctx, e, c, o.Flags, change.Operation{
		Verb: "member replace", Needs: m.DruidReplaceNeeds(pod),
		Judge: func(ctx context.Context) (plan operate.Plan, err error) {
			m.Owner = c.Owner
			planned, plan, err = m.PlanDruidReplace(ctx, pod, o.force)
			return plan, err
		},
		DryRun: func(ctx context.Context) error { return m.ReplaceDruid(ctx, planned, true) },
		Act: func(ctx context.Context, run *change.Run) error {
			m.StillHeld = run.Held
			if err := m.ReplaceDruid(ctx, planned, false); err != nil {
				return err
			}
			run.Done(ctx, reasons.MemberReplaced, "replaced the member of "+pod, fmt.Sprintf("%s replaced the member of %s", c.Target(), pod))
			return nil
		},
		Next: func(error) string {
			if !planned.Deleted {
				return ""
			}
			return fmt.Sprintf("the sidecar of %s continues. kubectl etcd status %s -n %s shows whether the new member votes", pod, c.Target(), c.Namespace)
		},
	})
}
