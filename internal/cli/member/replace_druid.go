// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// replaceDruid has the pod's sidecar make its member anew.
func replaceDruid(ctx context.Context, e *app.App, c *app.Cluster, pod string, o replaceOptions) error {
	if o.abort {
		return app.Refused("cannot take back a replacement in %s: its sidecar goes on until the member is back", c.Owner)
	}
	m, err := change.Members(e, c)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Logs, err = e.Logs(c.Namespace); err != nil {
		return err
	}
	r, plan, err := m.PlanDruidReplace(ctx, pod, o.force)
	if err != nil {
		return err
	}
	if o.DryRun != change.DryRunClient {
		needs := append(append(memberNeeds(c), operate.DruidViewNeeds(c.Owner)...),
			operate.Need{Verb: "get", Resource: "persistentvolumeclaims", Namespace: c.Namespace},
			operate.Need{Verb: "delete", Resource: "persistentvolumeclaims", Namespace: c.Namespace},
			operate.Need{Verb: "delete", Resource: "pods", Namespace: c.Namespace, Name: pod})
		if err := change.Require(ctx, e, c, needs); err != nil {
			return err
		}
	}
	yes, err := change.Propose(ctx, e, c, plan, o.Flags)
	if err != nil || !yes {
		return err
	}
	if o.DryRun == change.DryRunServer {
		if err := m.ReplaceDruid(ctx, r, true); err != nil {
			return err
		}
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	lock, err := change.Hold(ctx, e, c, "member replace", o.Flags)
	if err != nil {
		return err
	}
	defer change.Release(ctx, e, lock)
	m.Held = lock.Held
	ctx, cancel := app.Within(lock.Context(), o.Timeout, "replace "+pod)
	defer cancel()
	now, _, err := m.PlanDruidReplace(ctx, pod, o.force)
	if err != nil {
		return err
	}
	if !now.Same(r) {
		return change.ChangedMeanwhile(c)
	}
	if err := m.ReplaceDruid(ctx, r, false); err != nil {
		return err
	}
	change.Announce(ctx, e, c, "MemberReplaced", "replaced the member of "+pod, o.Flags)
	fmt.Fprintf(e.Out, "%s replaced the member of %s\n", c.Target(), pod)
	return nil
}
