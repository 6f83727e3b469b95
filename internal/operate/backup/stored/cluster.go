// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
)

// Scheduled returns the snapshots of a cluster in the folder of its schedule, the newest last, and those of
// clusters of the same name with another UID.
func (s Stores) Scheduled(ctx context.Context, o owner.Owner, folder blob.Location) (of, others []v1alpha1.StoredSnapshot, err error) {
	if _, local := folder.File(); local || folder.Folder == "" {
		return nil, nil, fmt.Errorf("the snapshots in %s: the directory is on the volume of the job", folder)
	}
	to, err := folder.Trusting(s.CA)
	if err != nil {
		return nil, nil, err
	}
	names := NamesOf(o)
	all, err := List(ctx, to, names.Every()...)
	if err != nil {
		return nil, nil, fmt.Errorf("the snapshots of the schedule, for which your environment needs credentials (%s): %w", to.Credentials(), err)
	}
	of, others = divided(names, backup.Reference(o), all)
	return of, others, nil
}

// divided returns the snapshots of a cluster, and those of clusters of the same name with another UID. Those have a
// reference, also if they have no description.
func divided(names Names, c v1alpha1.ClusterReference, all []v1alpha1.StoredSnapshot) (of, others []v1alpha1.StoredSnapshot) {
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

// Others describes the snapshots in a list that are of other clusters of the same name.
func Others(l *v1alpha1.SnapshotList) []string {
	names := Names{Namespace: l.Cluster.Namespace, Name: l.Cluster.Name, UID: l.Cluster.UID}
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
		out = append(out, names.NotDeleted(count[uid], uid))
	}
	if described > 0 {
		out = append(out, fmt.Sprintf("%d snapshots have a name of this cluster and the description of another one. They are kept", described))
	}
	return out
}
