// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Found is the schedule that a cluster has.
type Found struct {
	// Name is that of its CronJob.
	Name string
	// To is the folder, zero if its URL can't be parsed.
	To    blob.Location
	Every string
	Keep  int
	// Suspended is true if no run starts.
	Suspended bool
	// Started and Succeeded are the times of the last run and of the last run that succeeded, zero for never.
	Started, Succeeded time.Time
}

// Find returns the schedule of a cluster, nil for none.
func Find(ctx context.Context, kube client.Reader, o owner.Owner) (*Found, error) {
	c, err := get(ctx, kube, o)
	if err != nil || c == nil {
		return nil, err
	}
	f := &Found{Name: c.Name, Every: c.Annotations[v1alpha1.ScheduleEveryAnnotation], Suspended: ptr.Deref(c.Spec.Suspend, false)}
	f.Keep, _ = strconv.Atoi(c.Annotations[v1alpha1.ScheduleKeepAnnotation])
	f.To, _ = blob.ParseFolder(c.Annotations[v1alpha1.ScheduleURLAnnotation])
	if every, err := time.ParseDuration(f.Every); err == nil {
		f.Every = policy.Duration(every)
	}
	if t := c.Status.LastScheduleTime; t != nil {
		f.Started = t.Time
	}
	if t := c.Status.LastSuccessfulTime; t != nil {
		f.Succeeded = t.Time
	}
	return f, nil
}

// get returns the CronJob of a cluster's schedule, nil for none.
func get(ctx context.Context, kube client.Reader, o owner.Owner) (*batchv1.CronJob, error) {
	if o.Kind != "StatefulSet" {
		return nil, nil
	}
	var c batchv1.CronJob
	err := kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: Name(o.Name)}, &c)
	if apierrors.IsNotFound(err) || err == nil && c.Labels["app.kubernetes.io/component"] != labels["app.kubernetes.io/component"] {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read CronJob %s/%s: %w", o.Namespace, Name(o.Name), err)
	}
	return &c, nil
}

// none is the plan for a cluster without a schedule.
func (j *Job) none() operate.Plan {
	return operate.Plan{Already: fmt.Sprintf("%s has no schedule of snapshots.", j.Owner)}
}

// judgeDelete returns the plan to delete the schedule. A schedule that was deleted or created in part has no CronJob,
// and still has objects, such as a ServiceAccount that may read Secrets.
func (j *Job) judgeDelete(ctx context.Context) (operate.Plan, error) {
	plan := operate.Plan{
		Title:    fmt.Sprintf("delete the schedule of snapshots of %s", j.Owner),
		Warnings: []string{"The snapshots in the store stay. The state of backups is not known afterwards, so failing backups block no eviction."},
	}
	if j.Owner.Annotations[v1alpha1.BackupLeaseAnnotation] == Name(j.Owner.Name) {
		plan.Steps = append(plan.Steps, "remove the annotations of the Lease")
	}
	var kinds []string
	for _, o := range j.toDelete() {
		ours, err := j.readOurs(ctx, o)
		if err != nil {
			return operate.Plan{}, fmt.Errorf("read %s %s/%s: %w", kindOf(o), o.GetNamespace(), o.GetName(), err)
		}
		if ours {
			kinds = append(kinds, kindOf(o))
			plan.Subject += identify(o) + "\n"
		}
	}
	if len(kinds) > 0 {
		plan.Steps = append(plan.Steps, fmt.Sprintf("delete %s %s", policy.List(kinds), Name(j.Owner.Name)))
	}
	if len(plan.Steps) == 0 {
		return j.none(), nil
	}
	return plan, nil
}

// judgeExisting returns the plan to suspend or resume the schedule.
func (j *Job) judgeExisting(ctx context.Context) (operate.Plan, error) {
	c, err := get(ctx, j.Kube, j.Owner)
	if err != nil {
		return operate.Plan{}, err
	}
	if c == nil {
		return j.none(), nil
	}
	suspend := j.Action == Suspend
	if ptr.Deref(c.Spec.Suspend, false) == suspend {
		return operate.Plan{Already: fmt.Sprintf("The schedule of %s is already %s.", j.Owner, map[bool]string{true: "suspended", false: "active"}[suspend])}, nil
	}
	wanted := c.DeepCopy()
	wanted.Spec.Suspend = &suspend
	j.changes = []change{{c, wanted}}
	plan := operate.Plan{
		Title: fmt.Sprintf("%s the schedule of snapshots of %s", j.Action, j.Owner), Steps: []string{"change CronJob " + c.Name},
		Subject: identify(c),
	}
	if suspend {
		plan.Warnings = []string{fmt.Sprintf("BackupReady becomes False when the last snapshot is older than %s. To record that no backups are wanted, use --delete.", j.Owner.Annotations[v1alpha1.BackupMaxAgeAnnotation])}
	}
	return plan, nil
}
