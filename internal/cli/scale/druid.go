// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// scaleDruid has etcd-druid scale, which adds and promotes the members itself.
func scaleDruid(ctx context.Context, e *app.App, c *app.Cluster, o scaleOptions) error {
	if o.abort {
		return app.Refused("cannot take back a scale of %s: etcd-druid scales it, and goes on until it is done; kubectl etcd status etcd/%s shows how far it is", c.Owner, c.Name)
	}
	m, err := change.Members(e, c)
	if err != nil {
		return err
	}
	defer m.Close()
	plan, err := m.PlanDruidScale(ctx, o.replicas)
	if err != nil {
		return err
	}
	if plan.Title == "" {
		return scaledAlready(ctx, e, c, m, o)
	}
	if o.replicas == 0 {
		fact, err := savedBefore(ctx, e, c, o.snapshot)
		if err != nil {
			return err
		}
		plan.Facts = append(plan.Facts, fact)
	}
	if o.DryRun != change.DryRunClient {
		if err := change.Require(ctx, e, c, m.DruidNeeds()); err != nil {
			return err
		}
	}
	yes, err := change.Propose(ctx, e, c, plan, o.Flags)
	if err != nil || !yes {
		return err
	}
	if o.DryRun == change.DryRunServer {
		if err := m.ScaleDruid(ctx, o.replicas, true); err != nil {
			return err
		}
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	return scaleDruidNow(ctx, e, c, m, plan, o)
}

// scaledAlready says that nothing is to be asked of etcd-druid, which may still be at it.
func scaledAlready(ctx context.Context, e *app.App, c *app.Cluster, m *operate.Members, o scaleOptions) error {
	ctx, cancel := app.Within(ctx, o.Timeout, fmt.Sprintf("scale %s to %s", c.Owner, members(o.replicas)))
	defer cancel()
	if o.Wait && o.DryRun == change.DryRunNone {
		if err := m.AwaitDruid(ctx, o.replicas, nil); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.ErrOut, "%s has %s already.\n", c.Owner, members(o.replicas))
	return nil
}

// scaleDruidNow looks anew under the lock: while somebody read the plan, a member may have
// died or another scale have begun.
func scaleDruidNow(ctx context.Context, e *app.App, c *app.Cluster, m *operate.Members, plan operate.Plan, o scaleOptions) error {
	ctx, cancel := app.Within(ctx, o.Timeout, fmt.Sprintf("scale %s to %s", c.Owner, members(o.replicas)))
	defer cancel()
	lock, err := change.Hold(ctx, e, c, "scale", o.Flags)
	if err != nil {
		return err
	}
	defer change.Release(ctx, e, lock)
	ctx, m.Held = lock.Context(), lock.Held
	switch now, err := m.PlanDruidScale(ctx, o.replicas); {
	case err != nil:
		return err
	case now.Title != plan.Title:
		return change.ChangedMeanwhile(c)
	}
	if err := m.ScaleDruid(ctx, o.replicas, false); err != nil {
		return err
	}
	change.Announce(ctx, e, c, "Scaled", "scale to "+members(o.replicas), o.Flags)
	if o.Wait {
		if err := m.AwaitDruid(ctx, o.replicas, m.TellDruid); err != nil {
			return fmt.Errorf("%w; etcd-druid goes on: the same command waits for it again", err)
		}
	}
	fmt.Fprintf(e.Out, "%s scaled to %s\n", c.Target(), members(o.replicas))
	return nil
}

// savedBefore wants a whole snapshot of this very cluster before all its members
// stop, and says how old its content is.
func savedBefore(ctx context.Context, e *app.App, c *app.Cluster, path string) (string, error) {
	if path == "" {
		return "", app.Refused("cannot scale %s to 0 members without a snapshot: kubectl etcd snapshot save etcd/%s FILE -n %s, then give it by --after-snapshot FILE", c.Owner, c.Name, c.Namespace)
	}
	file, err := etcd.InspectSnapshot(ctx, path)
	if corrupt, ok := errors.AsType[*etcd.CorruptError](err); ok {
		return "", app.Unhealthy("--after-snapshot %v", corrupt)
	}
	if err != nil {
		return "", fmt.Errorf("--after-snapshot: %w", err)
	}
	if !file.Hashed {
		return "", app.Refused("--after-snapshot %s has no hash at its end: it is a copy of a database, and nothing shows whether it is whole; take a snapshot", path)
	}
	full, err := e.Cluster(ctx, c.Owner.Target().String())
	if err != nil {
		return "", err
	}
	defer full.Close()
	s, err := operate.Listed(ctx, full.Members, fmt.Sprintf("scale %s to 0 members", c.Owner))
	if err != nil {
		return "", err
	}
	ours := slices.ContainsFunc(file.Members, func(m etcd.SnapshotMember) bool {
		return slices.ContainsFunc(s.List, func(l etcd.Listed) bool { return l.ID == m.ID })
	})
	if !ours {
		return "", app.Refused("--after-snapshot %s is of another cluster: it has none of the members of %s", path, c.Owner)
	}
	latest := int64(0)
	for _, m := range s.Members {
		latest = max(latest, m.Revision)
	}
	return fmt.Sprintf("snapshot %s is whole: %d keys at revision %d, the cluster is at %d", path, file.Keys, file.Revision, latest), nil
}
