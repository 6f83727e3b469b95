// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
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
		LastRun: timeOf(found.Started), LastSuccess: timeOf(found.Succeeded),
	}
	items, others, err := scheduled(ctx, c, *found, flags)
	if err != nil {
		return err
	}
	out.Items = append(out.Items, items...)
	if others > 0 {
		return fmt.Errorf("%d snapshots of clusters of the same name with another UID: kubectl etcd snapshot list %s shows them", others, step.Quote(found.To.String()))
	}
	return nil
}

// scheduled returns the snapshots of a cluster in the folder of its schedule, the newest last, and how many
// are of clusters of the same name with another UID.
func scheduled(ctx context.Context, c *app.Cluster, found schedule.Found, flags storeFlags) (of []v1alpha1.StoredSnapshot, others int, err error) {
	if _, local := found.To.File(); local || found.To.Folder == "" {
		return nil, 0, fmt.Errorf("the snapshots in %s: the directory is on the volume of the job", found.To)
	}
	to, err := found.To.Trusting(flags.ca)
	if err != nil {
		return nil, 0, err
	}
	names := namesOf(c.Owner)
	all, err := listFolder(ctx, to, names.Prefixes()...)
	if err != nil {
		return nil, 0, fmt.Errorf("the snapshots of the schedule, for which your environment needs credentials (%s): %w", to.Credentials(), err)
	}
	for _, item := range all {
		_, named := names.Time(item.Name)
		switch {
		case !named:
		case item.Cluster != nil && item.Cluster.UID != names.UID:
			others++
		default:
			of = append(of, item)
		}
	}
	return of, others, nil
}

func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}
