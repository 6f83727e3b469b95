// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"cmp"
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
)

// Source is the member whose data recover restores.
type Source struct {
	Options

	// Member is its pod, empty for the one that has most. File is where its data is saved, empty for a name in the current
	// directory.
	Member, File string
	// Volumes are the pods of the members whose data is read from their volumes, and Etcd is the program for that.
	Volumes []string
	Etcd    string
}

// Save judges the cluster, and saves the data of the source to a file.
func (from Source) Save(ctx context.Context, a *app.App, c *app.Cluster, target string) (file string, found Recovery, err error) {
	if len(from.Volumes) > 0 {
		return saveVolumes(ctx, a, c, target, from)
	}
	return saveSurvivor(ctx, a, c, target, from)
}

// saveSurvivor judges the cluster, and saves the data of the member that is chosen or has applied most.
func saveSurvivor(ctx context.Context, a *app.App, c *app.Cluster, target string, from Source) (file string, found Recovery, err error) {
	pods, message, err := judgeSurvivors(ctx, a, c, from.Lost, from.Volumes)
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
	survivors, err := survivor.Find(cluster.Owner, survey, pods, from.Member)
	if err != nil {
		return "", found, err
	}
	source := survivors.Source
	if err := mayRestoreFrom(ctx, a, target, from.Options, source); err != nil {
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
	file = cmp.Or(from.File, survivor.File(c.Owner, "", a.Clock.Now()))
	if _, err := change.NewSaver(a, cluster, order, change.SaveRetries, change.SaveIdle).ToFile(ctx, file, file, false); err != nil {
		return "", found, err
	}
	a.Step("Saved and verified the data of %s: %s. Keep it until the cluster is healthy", source.Pod, file)
	found.Facts = append([]string{message}, facts...)
	found.Survivor, found.Revision = source.Pod, survivors.Revision()
	found.Backup = survivor.ReadBackups(ctx, c.Reader, c.Owner).Newer(source.Revision)
	found.Judge = from.judgeAgain(a, c, survivors, pods)
	return file, found, nil
}

// judgeAgain returns what judges the cluster and the backups again. set has the data that was saved, and pods answered then.
func (from Source) judgeAgain(a *app.App, c *app.Cluster, set survivor.Set, pods []string) func(context.Context) error {
	return func(ctx context.Context) error {
		now, _, err := judgeSurvivors(ctx, a, c, from.Lost, from.Volumes)
		if err != nil {
			return err
		}
		if _, err := set.Against(c.Owner, survivor.ReadBackups(ctx, c.Reader, c.Owner)); err != nil {
			return err
		}
		return survivor.SamePods(c.Owner, pods, now)
	}
}
