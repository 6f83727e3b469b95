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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
)

// addSchedule adds the schedule of a cluster and the snapshots in its folder. The error is what could not
// be listed.
func addSchedule(ctx context.Context, c *app.Cluster, out *v1alpha1.SnapshotList) error {
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
	if _, local := found.To.File(); local || found.To.Folder == "" {
		return fmt.Errorf("the snapshots in %s: the directory is on the volume of the job", found.To)
	}
	names := backup.Names{Namespace: c.Namespace, Name: c.Name}
	if out.Items, err = listFolder(ctx, found.To, names.Prefix()); err != nil {
		out.Items = []v1alpha1.StoredSnapshot{}
		return fmt.Errorf("the snapshots of the schedule, for which your environment needs credentials (AWS_ACCESS_KEY_ID): %w", err)
	}
	return nil
}

func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}
