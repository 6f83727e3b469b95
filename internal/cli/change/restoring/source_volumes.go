// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/survivor"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/volume"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/podexec"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// anyRevision stands for the revision of data that is not read yet: it is above all others, so that no comparison refuses it.
const anyRevision = math.MaxInt64 / 2

// saveVolumes judges the cluster, and saves the data of the members that are named from their volumes. If a member that
// answers has at least as much, its data is saved and restored instead.
func saveVolumes(ctx context.Context, a *app.App, c *app.Cluster, target string, from Source) (file string, found Recovery, err error) {
	pods, message, err := judgeSurvivors(ctx, a, c, from.Lost, from.Volumes)
	if err != nil {
		return "", found, err
	}
	if err := from.fits(c, pods); err != nil {
		return "", found, err
	}
	if err := mayRestoreFrom(ctx, a, target, from.Options, etcd.Member{Pod: from.Volumes[0], Revision: anyRevision}); err != nil {
		return "", found, err
	}
	read, files, err := readVolumes(ctx, a, c, target, from)
	if err != nil {
		return "", found, err
	}
	answering, err := answeringSet(ctx, a, target, pods, from.Member)
	if err != nil {
		return "", found, err
	}
	set, err := survivor.OfVolumes(c.Owner, read, answering, from.Member)
	if err != nil {
		return "", found, err
	}
	if set.Source.Pod == answering.Source.Pod {
		file, found, err = saveSurvivor(ctx, a, c, target, from)
		found.Facts = append(found.Facts, survivor.Volumes(read)...)
	} else {
		file = files[set.Source.Pod]
		found, err = fromVolume(ctx, c, set, message, read)
		found.Judge = from.judgeAgain(a, c, set, pods)
	}
	found.Read, found.Revision = from.Volumes, max(found.Revision, set.Revision())
	return file, found, err
}

// fits returns an error if a flag doesn't fit the members that answer.
func (from Source) fits(c *app.Cluster, answering []string) error {
	all := slices.Concat(answering, from.Volumes)
	switch {
	case from.Member != "" && !slices.Contains(all, from.Member):
		return survivor.Refuse(c.Owner, "%s is chosen with --member, and only %s can provide the data", from.Member, policy.List(all))
	case from.File != "" && len(answering) > 0:
		return survivor.Refuse(c.Owner, "--save-to names one file, and %s too: leave out --save-to", policy.Names(answering, "answers", "answer"))
	case from.File != "":
		if _, err := os.Lstat(from.File); err == nil {
			return survivor.Refuse(c.Owner, "%s exists already: choose another name for --save-to", from.File)
		}
	}
	return nil
}

// fromVolume describes the restore of what a volume has.
func fromVolume(ctx context.Context, c *app.Cluster, set survivor.Set, message string, read []etcd.Member) (found Recovery, err error) {
	backups := survivor.ReadBackups(ctx, c.Reader, c.Owner)
	backed, err := set.Against(c.Owner, backups)
	if err != nil {
		return found, err
	}
	found.Facts = append([]string{message}, survivor.Volumes(read)...)
	if backed != "" {
		found.Facts = append(found.Facts, backed)
	}
	found.Survivor, found.Backup = set.Source.Pod, backups.Newer(set.Source.Revision)
	return found, nil
}

// answeringSet returns the members that answer. It is empty if there are none.
func answeringSet(ctx context.Context, a *app.App, target string, pods []string, chosen string) (set survivor.Set, err error) {
	if len(pods) == 0 {
		return set, nil
	}
	cluster, err := a.Cluster(ctx, target)
	if err != nil {
		return set, err
	}
	defer cluster.Close()
	survey, err := cluster.Members.Survey(ctx)
	if err != nil {
		return set, err
	}
	if !slices.Contains(pods, chosen) {
		chosen = ""
	}
	return survivor.Find(cluster.Owner, survey, pods, chosen)
}

// readVolumes saves the data of each named member to a file.
func readVolumes(ctx context.Context, a *app.App, c *app.Cluster, target string, from Source) (read []etcd.Member, files map[string]string, err error) {
	_, r, err := PlanFor(ctx, a, target)
	if err != nil {
		return nil, nil, err
	}
	if err := change.Require(ctx, a, c, volume.Needs(c.Owner)); err != nil {
		return nil, nil, err
	}
	s, err := newVolumeSaver(a, c)
	if err != nil {
		return nil, nil, err
	}
	if s.Etcd, s.Version, err = volume.Program(ctx, from.Etcd); err != nil {
		return nil, nil, err
	}
	var pods []restore.VolumePod
	for _, name := range from.Volumes { // all are known to be readable before the first is read
		pod, err := r.VolumePodOf(ctx, c.Kube, c.Reader, name, from.Image)
		if err == nil {
			err = s.CheckRelease(pod.Etcd)
		}
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, pod)
	}
	files = map[string]string{}
	for _, pod := range pods {
		file := cmp.Or(from.File, survivor.File(c.Owner, pod.Member, a.Clock.Now()))
		m, err := s.Save(ctx, pod, file)
		if err != nil {
			return nil, nil, err
		}
		a.Step("Saved and verified the data of %s from its volume, revision %d: %s. Keep it until the cluster is healthy", pod.Member, m.Revision, file)
		read, files[pod.Member] = append(read, m), file
	}
	return read, files, nil
}

func newVolumeSaver(a *app.App, c *app.Cluster) (*volume.Saver, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return &volume.Saver{
		Owner: c.Owner, Logf: a.Notef,
		Clients: step.Clients{
			Kube: c.Kube, Namespace: c.Namespace, Clock: a.Clock, Warn: a.Warn,
			Exec: podexec.Runner{Config: config, Namespace: c.Namespace, Container: restore.HelperContainer}.Run,
		},
	}, nil
}
