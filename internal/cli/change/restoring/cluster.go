// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"os"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// cluster is the cluster of a restore, for its steps. It implements step.Members.
type cluster struct {
	task *task
	run  *change.Run
}

// Save saves a snapshot of a member. It keeps a file that an interrupted command has saved, unless a member has more.
func (c *cluster) Save(ctx context.Context, file string) error {
	t := c.task
	_, missing := os.Stat(file) // it only gets this name when it is complete
	if missing == nil && c.savedAll(ctx, file) {
		return context.Cause(ctx)
	}
	cluster, err := t.app.Cluster(ctx, t.target)
	if err != nil {
		return err
	}
	defer cluster.Close()
	order, err := backup.ChooseMembers(ctx, cluster.Owner, cluster.Members, "", t.app.Warn)
	if err != nil {
		return err
	}
	if _, err := change.NewSaver(t.app, cluster, order, change.SaveRetries, change.SaveIdle).ToFile(ctx, file, file, missing == nil); err != nil {
		return err
	}
	t.app.Step("Saved and verified %s", file)
	return nil
}

// savedAll reports whether a file has all that the members have. If they don't answer any more, it is what could be saved.
func (c *cluster) savedAll(ctx context.Context, file string) (all bool) {
	content, err := snapshot.Inspect(ctx, file)
	if err != nil {
		return false
	}
	err = c.surveyed(ctx, func(_ *app.Cluster, survey etcd.Survey) error {
		all = restore.SavedAll(content.Revision, survey)
		return nil
	})
	if err != nil {
		c.task.app.Warn("%s is not saved again: %v.", file, err)
	}
	return all || err != nil
}

// CutTraffic cuts the clients' Services, or moves the end of their cut.
func (c *cluster) CutTraffic(ctx context.Context, length time.Duration) error {
	t := c.task
	cluster, unreached, err := t.app.ClusterBestEffort(ctx, t.target)
	if err != nil {
		return err
	}
	defer cluster.Close()
	cut := change.Traffic(t.app, cluster, cluster.Target().String(), t.Flags)
	cut.Unreached = unreached
	r := traffic.Request{Length: length, Reason: "restore of a snapshot", Wait: true, Detach: true, AllStop: true}
	if _, err := cut.Judge(ctx, r); err != nil {
		return err
	}
	if err := cut.Cut(ctx, c.run.Lock, r); err != nil {
		return err
	}
	if !cut.Maintained() {
		t.app.Warn("If this command is interrupted, nothing restores client traffic, not even in %s. In that case, continue it with the same command, or end it with kubectl etcd snapshot restore %s -n %s --abort",
			policy.Duration(length), cluster.Target(), cluster.Namespace)
	}
	_, err = cut.AwaitCut(ctx, r)
	return err
}

// RestoreTraffic restores the clients' Services that are cut, or leaves the cut that another user made.
func (c *cluster) RestoreTraffic(ctx context.Context, ends map[string]time.Time) error {
	if len(ends) > 0 {
		return c.run.LeaveCut(ctx, traffic.Before{Ends: ends, Record: c.task.plan.Before.Record})
	}
	services, err := traffic.CutServices(ctx, c.task.cluster.Reader, c.task.cluster.Owner)
	if err != nil || len(services) == 0 {
		return err
	}
	var names []string
	for _, s := range services {
		names = append(names, s.Name)
	}
	return c.run.RestoreLocked(ctx, names)
}

// Agree reports why the members don't yet form one cluster with equal data.
func (c *cluster) Agree(ctx context.Context, size int, revision int64) (waiting, err error) {
	waiting = c.agree(ctx, size, revision)
	if app.IsVerdict(waiting) {
		return nil, waiting
	}
	return waiting, nil
}

func (c *cluster) agree(ctx context.Context, size int, revision int64) error {
	return c.surveyed(ctx, func(cluster *app.Cluster, survey etcd.Survey) error {
		if err := restore.Agree(survey, size, revision); err != nil {
			return err
		}
		hashes, err := cluster.Members.Hashes(ctx, survey.Members, c.task.app.Clock)
		if err != nil {
			return err
		}
		if err := restore.SameData(hashes); err != nil {
			return err
		}
		return c.relieve(ctx, cluster, survey)
	})
}

// surveyed calls f with the cluster as it is now, and a survey of its members.
func (c *cluster) surveyed(ctx context.Context, f func(*app.Cluster, etcd.Survey) error) error {
	cluster, err := c.task.app.Cluster(ctx, c.task.target)
	if err != nil {
		return err
	}
	defer cluster.Close()
	survey, err := cluster.Members.Survey(ctx)
	if err != nil {
		return err
	}
	return f(cluster, survey)
}
