// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recover

import (
	"cmp"
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
)

// saveSurvivor judges the cluster, and saves the data of the member that is chosen or has applied most.
func saveSurvivor(ctx context.Context, a *app.App, c *app.Cluster, target string, o options) (file string, found restoring.Recovery, err error) {
	pods, message, err := restoring.JudgeSurvivors(ctx, a, c, o.Lost, o.volumes)
	if err != nil {
		return "", found, err
	}
	cluster, err := a.Cluster(ctx, target)
	if err != nil {
		return "", found, err
	}
	defer cluster.Close()
	survey, err := cluster.Members.Survey(ctx)
	if err != nil {
		return "", found, err
	}
	survivors, err := survivor.Find(cluster.Owner, survey, pods, o.member)
	if err != nil {
		return "", found, err
	}
	source := survivors.Source
	if err := restoring.MayRestoreFrom(ctx, a, target, o.Options, source); err != nil {
		return "", found, err
	}
	facts, err := survivors.Compare(ctx, cluster.Owner, cluster.Members, a.Clock, a.Notef)
	if err != nil {
		return "", found, err
	}
	order, err := backup.ChooseMembers(ctx, cluster.Owner, cluster.Members, source.Pod, a.Warn)
	if err != nil {
		return "", found, err
	}
	backed, err := survivors.Against(c.Owner, survivor.ReadBackups(ctx, c.Reader, c.Owner))
	if err != nil {
		return "", found, err
	}
	if backed != "" {
		facts = append(facts, backed)
	}
	file = cmp.Or(o.file, survivor.File(c.Owner, a.Clock.Now()))
	if _, err := change.NewSaver(a, cluster, order, change.SaveRetries, change.SaveIdle).ToFile(ctx, file, file, false); err != nil {
		return "", found, err
	}
	a.Step("Saved and verified the data of %s: %s. Keep it until the cluster is healthy", source.Pod, file)
	found.Facts = append([]string{message}, facts...)
	found.Survivor, found.Revision = source.Pod, survivors.Revision()
	found.Backup = survivor.ReadBackups(ctx, c.Reader, c.Owner).Newer(source.Revision)
	found.Judge = func(ctx context.Context) error {
		now, _, err := restoring.JudgeSurvivors(ctx, a, c, o.Lost, o.volumes)
		if err != nil {
			return err
		}
		if _, err := survivors.Against(c.Owner, survivor.ReadBackups(ctx, c.Reader, c.Owner)); err != nil {
			return err
		}
		return survivor.SamePods(c.Owner, pods, now)
	}
	return file, found, nil
}
