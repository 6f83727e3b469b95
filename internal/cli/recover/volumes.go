// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recover

import (
	"cmp"
	"context"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/volume"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/podexec"
)

// saveVolumes judges the cluster, and saves the data of the members that are named from their volumes. If a member that
// answers has at least as much, its data is saved and restored instead.
func saveVolumes(ctx context.Context, a *app.App, c *app.Cluster, target string, o options) (file string, found restoring.Recovery, err error) {
	pods, message, err := restoring.JudgeVolumes(ctx, a, c, o.Lost, o.volumes)
	if err != nil {
		return "", found, err
	}
	backups := survivor.ReadBackups(ctx, c.Reader, c.Owner)
	if err := restoring.MayRestoreFrom(ctx, a, target, o.Options, etcd.Member{Pod: o.volumes[0], Revision: backups.Newer(0)}); err != nil {
		return "", found, err
	}
	read, files, err := readVolumes(ctx, a, c, target, o)
	if err != nil {
		return "", found, err
	}
	answers, err := answerHasAll(ctx, a, target, pods, o.member, read)
	if err != nil {
		return "", found, err
	}
	if answers {
		file, found, err = saveSurvivor(ctx, a, c, target, o)
		found.Read, found.Facts = o.volumes, append(found.Facts, survivor.Volumes(read)...)
		return file, found, err
	}
	set, err := survivor.OfVolumes(c.Owner, read, o.member)
	if err != nil {
		return "", found, err
	}
	backed, err := set.Against(c.Owner, backups)
	if err != nil {
		return "", found, err
	}
	found.Facts = append([]string{message}, survivor.Volumes(read)...)
	if backed != "" {
		found.Facts = append(found.Facts, backed)
	}
	found.Read, found.Survivor, found.Revision, found.Backup = o.volumes, set.Source.Pod, set.Revision(), backups.Newer(set.Source.Revision)
	found.Judge = func(ctx context.Context) error {
		now, _, err := restoring.JudgeVolumes(ctx, a, c, o.Lost, o.volumes)
		if err != nil {
			return err
		}
		return survivor.SamePods(c.Owner, pods, now)
	}
	return files[set.Source.Pod], found, nil
}

// answerHasAll reports whether the data of a member that answers is restored, and not that of a volume.
func answerHasAll(ctx context.Context, a *app.App, target string, pods []string, chosen string, read []etcd.Member) (bool, error) {
	if len(pods) == 0 || chosen != "" {
		return slices.Contains(pods, chosen), nil
	}
	cluster, err := a.Cluster(ctx, target)
	if err != nil {
		return false, err
	}
	defer cluster.Close()
	survey, err := cluster.Members.Survey(ctx)
	if err != nil {
		return false, err
	}
	set, err := survivor.Find(cluster.Owner, survey, pods, "")
	if err != nil {
		return false, err
	}
	return set.Revision() >= survivor.Newest(read), nil
}

// readVolumes saves the data of each named member to a file.
func readVolumes(ctx context.Context, a *app.App, c *app.Cluster, target string, o options) (read []etcd.Member, files map[string]string, err error) {
	_, r, err := restoring.PlanFor(ctx, a, target)
	if err != nil {
		return nil, nil, err
	}
	if err := change.Require(ctx, a, c, volume.Needs(c.Owner)); err != nil {
		return nil, nil, err
	}
	var pods []restore.VolumePod
	for _, name := range o.volumes { // all are known to be readable before the first is read
		pod, err := r.VolumePodOf(ctx, c.Kube, c.Reader, name, o.Image)
		if err == nil {
			err = volume.CheckRelease(ctx, o.etcd, pod.Etcd)
		}
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, pod)
	}
	s, err := newVolumeSaver(a, c, o.etcd)
	if err != nil {
		return nil, nil, err
	}
	files = map[string]string{}
	for _, pod := range pods {
		file := cmp.Or(o.file, survivor.FileOfVolume(c.Owner, pod.Member, a.Clock.Now()))
		out, err := s.Save(ctx, pod, file)
		if err != nil {
			return nil, nil, err
		}
		a.Step("Saved and verified the data of %s from its volume, revision %d: %s. Keep it until the cluster is healthy", pod.Member, out.Revision, file)
		read, files[pod.Member] = append(read, etcd.Member{Pod: pod.Member, Revision: out.Revision}), file
	}
	return read, files, nil
}

func newVolumeSaver(a *app.App, c *app.Cluster, program string) (*volume.Saver, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return &volume.Saver{
		Owner: c.Owner, Etcd: program, Logf: a.Step,
		Clients: step.Clients{
			Kube: c.Kube, Namespace: c.Namespace, Clock: a.Clock, Warn: a.Warn,
			Exec: podexec.Runner{Config: config, Namespace: c.Namespace, Container: restore.HelperContainer}.Run,
		},
	}, nil
}
