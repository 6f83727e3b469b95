// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
)

// addSchedule adds the schedule of a cluster and the snapshots in its folder. The error is what could not
// be listed.
func addSchedule(ctx context.Context, c *app.Cluster, flags storeFlags, out *v1alpha1.SnapshotList) error {
	found, err := schedule.Find(ctx, c.Kube, c.Owner)
	if err != nil {
		return fmt.Errorf("the schedule: %w", err)
	}
	if found == nil {
		return errors.New(noStore(c.Owner))
	}
	out.Schedule = &v1alpha1.SnapshotSchedule{
		CronJob: found.Name, URL: found.To.String(), Every: found.Every, Keep: found.Keep, Suspended: found.Suspended,
		LastRun: v1alpha1.TimeOf(found.Started), LastSuccess: v1alpha1.TimeOf(found.Succeeded),
	}
	items, others, err := scheduled(ctx, c, *found, flags)
	if err != nil {
		return err
	}
	out.Items = slices.Concat(out.Items, others, items)
	return nil
}

// scheduled returns the snapshots of a cluster in the folder of its schedule, the newest last, and those of
// clusters of the same name with another UID.
func scheduled(ctx context.Context, c *app.Cluster, found schedule.Found, flags storeFlags) (of, others []v1alpha1.StoredSnapshot, err error) {
	if _, local := found.To.File(); local || found.To.Folder == "" {
		return nil, nil, fmt.Errorf("the snapshots in %s: the directory is on the volume of the job", found.To)
	}
	to, err := found.To.Trusting(flags.ca)
	if err != nil {
		return nil, nil, err
	}
	names := namesOf(c.Owner)
	all, err := listFolder(ctx, to, names.Every()...)
	if err != nil {
		return nil, nil, fmt.Errorf("the snapshots of the schedule, for which your environment needs credentials (%s): %w", to.Credentials(), err)
	}
	of, others = divided(names, backup.Reference(c.Owner), all)
	return of, others, nil
}

// divided returns the snapshots of a cluster, and those of clusters of the same name with another UID. Those have a
// reference, also if they have no description.
func divided(names backup.Names, c v1alpha1.ClusterReference, all []v1alpha1.StoredSnapshot) (of, others []v1alpha1.StoredSnapshot) {
	for _, item := range all {
		_, named := names.Time(item.Name)
		other := names.Other(item.Name)
		switch {
		case other != "":
			item.Cluster = cmp.Or(item.Cluster, &v1alpha1.ClusterReference{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name, UID: other})
			others = append(others, item)
		case !named:
		case item.Cluster != nil && item.Cluster.UID != names.UID:
			others = append(others, item)
		default:
			of = append(of, item)
		}
	}
	return of, others
}

// othersOf describes the snapshots in a list that are of other clusters of the same name.
func othersOf(l *v1alpha1.SnapshotList) []string {
	names := backup.Names{Namespace: l.Cluster.Namespace, Name: l.Cluster.Name, UID: l.Cluster.UID}
	count, described := map[string]int{}, 0
	for _, item := range l.Items {
		other := names.Other(item.Name)
		switch {
		case l.Schedule == nil:
		case other != "":
			count[other]++
		case item.Cluster != nil && item.Cluster.UID != names.UID:
			described++
		}
	}
	var out []string
	for _, uid := range slices.Sorted(maps.Keys(count)) {
		out = append(out, names.Kept(count[uid], uid))
	}
	if described > 0 {
		out = append(out, fmt.Sprintf("%d snapshots have a name of this cluster and the description of another one. They are kept", described))
	}
	return out
}
