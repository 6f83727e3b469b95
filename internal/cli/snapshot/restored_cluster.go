// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// restoredCluster is the cluster of a restore, for its steps. It implements step.Members.
type restoredCluster struct {
	task *restoreTask
	run  *change.Run
}

// Save saves a snapshot of a member, and keeps a file that an interrupted command has saved.
func (c *restoredCluster) Save(ctx context.Context, file string) error {
	if _, err := os.Stat(file); err == nil {
		return nil // it only gets this name when it is complete
	}
	t := c.task
	cluster, err := t.app.Cluster(ctx, t.target)
	if err != nil {
		return err
	}
	defer cluster.Close()
	order, err := backup.ChooseMembers(ctx, cluster.Owner, cluster.Members, "", t.app.Warn)
	if err != nil {
		return err
	}
	s := newSaver(t.app, cluster, order, saveOptions{retries: 2, idle: 30 * time.Second})
	if _, err := s.fill(ctx, file, file, false); err != nil {
		return err
	}
	t.app.Step("Saved and verified %s", file)
	return nil
}

// CutTraffic cuts the clients' Services, or moves the end of their cut.
func (c *restoredCluster) CutTraffic(ctx context.Context, length time.Duration) error {
	t := c.task
	cluster, unreached, err := t.app.ClusterBestEffort(ctx, t.target)
	if err != nil {
		return err
	}
	defer cluster.Close()
	cut := change.Traffic(t.app, cluster, cluster.Target().String(), t.Flags)
	cut.Unreached = unreached
	r := traffic.Request{Length: length, Reason: "restore of a snapshot", Wait: true, Detach: true}
	if _, err := cut.Judge(ctx, r); err != nil {
		return err
	}
	if err := cut.Cut(ctx, c.run.Lock, r); err != nil {
		return err
	}
	if !cut.Maintained() {
		t.app.Warn("Nothing restores client traffic if this command doesn't come to its end, not even in %s. To restore it: %s", length, cut.RestoreCommand())
	}
	_, err = cut.AwaitCut(ctx, r)
	return err
}

// RestoreTraffic restores the clients' Services that are cut, or leaves the cut that another user made.
func (c *restoredCluster) RestoreTraffic(ctx context.Context, ends map[string]time.Time) error {
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

const (
	// agreeTimeout is how long the members have to find each other, and agreePeriod is the time between
	// two questions.
	agreeTimeout = 5 * time.Minute
	agreePeriod  = 2 * time.Second
)

// Agree waits until the members form one cluster with equal data.
func (c *restoredCluster) Agree(ctx context.Context, size int, revision int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, agreeTimeout, errors.New("timed out after "+agreeTimeout.String()))
	defer cancel()
	for {
		err := c.agree(ctx, size, revision)
		if err == nil || app.IsVerdict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the members to agree: %w: %w", err, context.Cause(ctx))
		case <-c.task.app.Clock.After(agreePeriod):
		}
	}
}

func (c *restoredCluster) agree(ctx context.Context, size int, revision int64) error {
	cluster, err := c.task.app.Cluster(ctx, c.task.target)
	if err != nil {
		return err
	}
	defer cluster.Close()
	survey, err := cluster.Members.Survey(ctx)
	if err != nil {
		return err
	}
	if err := restore.Agree(survey, size, revision); err != nil {
		return err
	}
	hashes, err := cluster.Members.Hashes(ctx, survey.Members, c.task.app.Clock)
	if err != nil {
		return err
	}
	return restore.SameData(hashes)
}
