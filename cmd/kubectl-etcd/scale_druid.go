// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// scaleDruid has etcd-druid scale, which adds and promotes the members itself.
func scaleDruid(ctx context.Context, e *env, c *cluster, o scaleOptions) error {
	if o.abort {
		return refused("cannot take back a scale of %s: etcd-druid scales it, and goes on until it is done; kubectl etcd status etcd/%s shows how far it is", c.Owner, c.Name)
	}
	m, err := e.members(c)
	if err != nil {
		return err
	}
	defer m.Close()
	plan, err := m.PlanDruidScale(ctx, o.replicas)
	if err != nil {
		return err
	}
	if plan.Title == "" {
		return e.scaledAlready(ctx, c, m, o)
	}
	if o.replicas == 0 {
		fact, err := e.savedBefore(ctx, c, o.snapshot)
		if err != nil {
			return err
		}
		plan.Facts = append(plan.Facts, fact)
	}
	if o.dryRun != dryRunClient {
		if err := e.require(ctx, c, m.DruidNeeds()); err != nil {
			return err
		}
	}
	yes, err := e.propose(ctx, c, plan, o.change)
	if err != nil || !yes {
		return err
	}
	if o.dryRun == dryRunServer {
		if err := m.ScaleDruid(ctx, o.replicas, true); err != nil {
			return err
		}
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	return e.scaleDruidNow(ctx, c, m, plan, o)
}

// scaledAlready says that nothing is to be asked of etcd-druid, which may still be at it.
func (e *env) scaledAlready(ctx context.Context, c *cluster, m *operate.Members, o scaleOptions) error {
	ctx, cancel := within(ctx, o.timeout, fmt.Sprintf("scale %s to %s", c.Owner, members(o.replicas)))
	defer cancel()
	if o.wait && o.dryRun == dryRunNone {
		if err := m.AwaitDruid(ctx, o.replicas, nil); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.ErrOut, "%s has %s already.\n", c.Owner, members(o.replicas))
	return nil
}

// scaleDruidNow looks anew under the lock: while somebody read the plan, a member may have
// died or another scale have begun.
func (e *env) scaleDruidNow(ctx context.Context, c *cluster, m *operate.Members, plan operate.Plan, o scaleOptions) error {
	ctx, cancel := within(ctx, o.timeout, fmt.Sprintf("scale %s to %s", c.Owner, members(o.replicas)))
	defer cancel()
	lock, err := e.hold(ctx, c, "scale", o.change)
	if err != nil {
		return err
	}
	defer e.release(ctx, lock)
	ctx, m.Held = lock.Context(), lock.Held
	switch now, err := m.PlanDruidScale(ctx, o.replicas); {
	case err != nil:
		return err
	case now.Title != plan.Title:
		return changedMeanwhile(c)
	}
	if err := m.ScaleDruid(ctx, o.replicas, false); err != nil {
		return err
	}
	e.announce(ctx, c, "Scaled", "scale to "+members(o.replicas), o.change)
	if o.wait {
		if err := m.AwaitDruid(ctx, o.replicas, m.TellDruid); err != nil {
			return fmt.Errorf("%w; etcd-druid goes on: the same command waits for it again", err)
		}
	}
	fmt.Fprintf(e.Out, "%s scaled to %s\n", c.Target(), members(o.replicas))
	return nil
}

// savedBefore wants a whole snapshot of this very cluster before all its members
// stop, and says how old its content is.
func (e *env) savedBefore(ctx context.Context, c *cluster, path string) (string, error) {
	if path == "" {
		return "", refused("cannot scale %s to 0 members without a snapshot: kubectl etcd snapshot save etcd/%s FILE -n %s, then give it by --after-snapshot FILE", c.Owner, c.Name, c.Namespace)
	}
	file, err := etcd.InspectSnapshot(ctx, path)
	if corrupt, ok := errors.AsType[*etcd.CorruptError](err); ok {
		return "", unhealthy("--after-snapshot %v", corrupt)
	}
	if err != nil {
		return "", fmt.Errorf("--after-snapshot: %w", err)
	}
	if !file.Hashed {
		return "", refused("--after-snapshot %s has no hash at its end: it is a copy of a database, and nothing shows whether it is whole; take a snapshot", path)
	}
	full, err := e.cluster(ctx, c.Owner.Target().String())
	if err != nil {
		return "", err
	}
	defer full.Close()
	s, err := operate.Listed(ctx, full.members, fmt.Sprintf("scale %s to 0 members", c.Owner))
	if err != nil {
		return "", err
	}
	ours := slices.ContainsFunc(file.Members, func(m etcd.SnapshotMember) bool {
		return slices.ContainsFunc(s.List, func(l etcd.Listed) bool { return l.ID == m.ID })
	})
	if !ours {
		return "", refused("--after-snapshot %s is of another cluster: it has none of the members of %s", path, c.Owner)
	}
	latest := int64(0)
	for _, m := range s.Members {
		latest = max(latest, m.Revision)
	}
	return fmt.Sprintf("snapshot %s is whole: %d keys at revision %d, the cluster is at %d", path, file.Keys, file.Revision, latest), nil
}

// changedMeanwhile refuses what was planned for another state of the cluster.
func changedMeanwhile(c *cluster) error {
	return refused("%s has changed since the plan was made: run the command again", c.Owner)
}

// replaceDruid has the pod's sidecar make its member anew.
func replaceDruid(ctx context.Context, e *env, c *cluster, pod string, o replaceOptions) error {
	if o.abort {
		return refused("cannot take back a replacement in %s: its sidecar goes on until the member is back", c.Owner)
	}
	m, err := e.members(c)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Logs, err = e.logs(c.Namespace); err != nil {
		return err
	}
	r, plan, err := m.PlanDruidReplace(ctx, pod, o.force)
	if err != nil {
		return err
	}
	if o.dryRun != dryRunClient {
		needs := append(append(memberNeeds(c), operate.DruidViewNeeds(c.Owner)...),
			operate.Need{Verb: "get", Resource: "persistentvolumeclaims", Namespace: c.Namespace},
			operate.Need{Verb: "delete", Resource: "persistentvolumeclaims", Namespace: c.Namespace},
			operate.Need{Verb: "delete", Resource: "pods", Namespace: c.Namespace, Name: pod})
		if err := e.require(ctx, c, needs); err != nil {
			return err
		}
	}
	yes, err := e.propose(ctx, c, plan, o.change)
	if err != nil || !yes {
		return err
	}
	if o.dryRun == dryRunServer {
		if err := m.ReplaceDruid(ctx, r, true); err != nil {
			return err
		}
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=server).")
		return nil
	}
	lock, err := e.hold(ctx, c, "member replace", o.change)
	if err != nil {
		return err
	}
	defer e.release(ctx, lock)
	m.Held = lock.Held
	ctx, cancel := within(lock.Context(), o.timeout, "replace "+pod)
	defer cancel()
	now, _, err := m.PlanDruidReplace(ctx, pod, o.force)
	if err != nil {
		return err
	}
	if !now.Same(r) {
		return changedMeanwhile(c)
	}
	if err := m.ReplaceDruid(ctx, r, false); err != nil {
		return err
	}
	e.announce(ctx, c, "MemberReplaced", "replaced the member of "+pod, o.change)
	fmt.Fprintf(e.Out, "%s replaced the member of %s\n", c.Target(), pod)
	return nil
}
