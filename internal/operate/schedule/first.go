// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// longestBase is the longest beginning of the name of the first Job, which has up to 13 characters more. A name of more
// than 63 can't be the label of its pods.
const longestBase = 50

// firstName returns a new name of the Job that takes a first snapshot.
func (j *Job) firstName() string {
	base := Name(j.Owner.Name)
	base = strings.TrimRight(base[:min(len(base), longestBase)], ".-")
	return fmt.Sprintf("%s-now-%d", base, j.Clock.Now().Unix()%1e8)
}

// planFirst decides which Job takes a snapshot at once, and adds that to the steps: a new one if the CronJob is new or
// changes. The CronJob is written with the name of this Job, and loses it when the snapshot is stored. One that still has
// it was written by a command that ended earlier: its Job is created, awaited, or replaced if it failed.
func (j *Job) planFirst(ctx context.Context, plan *operate.Plan) error {
	for _, c := range j.changes {
		if wanted, ok := c.wanted.(*batchv1.CronJob); ok {
			j.markFirst(wanted)
		}
	}
	runs := false
	if j.first == "" {
		var err error
		if runs, err = j.continueFirst(ctx); err != nil {
			return err
		}
	}
	switch {
	case runs:
		plan.Steps = append(plan.Steps, fmt.Sprintf("wait for the first snapshot, which Job %s takes", j.first))
	case j.first != "":
		plan.Steps = append(plan.Steps, "take the first snapshot now")
	}
	return nil
}

// markFirst records in a CronJob that is written which Job takes its first snapshot.
func (j *Job) markFirst(wanted *batchv1.CronJob) {
	j.first = j.firstName()
	metav1.SetMetaDataAnnotation(&wanted.ObjectMeta, v1alpha1.ScheduleFirstAnnotation, j.first)
}

// continueFirst decides which Job takes the first snapshot of a CronJob that still has the name of one, and reports
// whether that Job exists.
func (j *Job) continueFirst(ctx context.Context) (bool, error) {
	c, err := get(ctx, j.Kube, j.Owner)
	if err != nil || c == nil || c.Annotations[v1alpha1.ScheduleFirstAnnotation] == "" {
		return false, err
	}
	name := c.Annotations[v1alpha1.ScheduleFirstAnnotation]
	var job batchv1.Job
	err = j.Kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &job)
	switch {
	case apierrors.IsNotFound(err) && c.Status.LastSuccessfulTime != nil: // later runs have replaced it
		return false, nil
	case apierrors.IsNotFound(err):
		j.first, j.cronJob = name, c
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read Job %s/%s: %w", c.Namespace, name, err)
	case metav1.IsControlledBy(&job, c) && !hasFailed(&job):
		j.first, j.cronJob = name, c
		return true, nil
	}
	wanted := c.DeepCopy()
	j.markFirst(wanted)
	j.changes = append(j.changes, change{c, wanted})
	return false, nil
}

// hasFailed reports whether a Job has failed and stored nothing.
func hasFailed(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue && c.Reason != batchv1.JobReasonPodFailurePolicy
	})
}

// EndFirst removes the name of the first Job from the CronJob, because its snapshot is stored or is not waited for. It
// removes no other name, which a command after this one has written.
func (j *Job) EndFirst(ctx context.Context) error {
	if j.first == "" {
		return nil
	}
	path := "/metadata/annotations/" + strings.ReplaceAll(v1alpha1.ScheduleFirstAnnotation, "/", "~1")
	text, err := json.Marshal([]map[string]string{{"op": "test", "path": path, "value": j.first}, {"op": "remove", "path": path}})
	if err != nil {
		return err
	}
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: j.Owner.Namespace, Name: Name(j.Owner.Name)}}
	err = j.Kube.Patch(ctx, c, client.RawPatch(types.JSONPatchType, text))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
		return fmt.Errorf("record in CronJob %s/%s that Job %s took its first snapshot: %w", c.Namespace, c.Name, j.first, err)
	}
	return nil
}

// firstJob returns the Job that kubectl create job --from would create, which ends with the CronJob.
func (j *Job) firstJob(c *batchv1.CronJob) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: j.first, Labels: labels, Annotations: map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: c.Spec.JobTemplate.Spec,
	}
}

// awaitPoll is how often the first Job is read.
const awaitPoll = 2 * time.Second

// eventPolls is after how many reads of the first Job its Events are read.
const eventPolls = 5

// warn reports the last warning about the first Job or its pods, unless it was reported before: no pod may be created
// or start at all. A user who may not list Events gets none.
func (j *Job) warn(ctx context.Context, before string) string {
	var events corev1.EventList
	err := j.Kube.List(ctx, &events, client.InNamespace(j.Owner.Namespace), client.MatchingFields{"type": corev1.EventTypeWarning})
	last, at := "", time.Time{}
	for i := range events.Items {
		e := &events.Items[i]
		when := lastOf(e)
		if strings.HasPrefix(e.InvolvedObject.Name, j.first) && !when.Before(at) {
			last, at = fmt.Sprintf("%s %s: %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message), when
		}
	}
	if err != nil || last == "" || last == before || j.Warnf == nil {
		return before
	}
	j.Warnf("The first snapshot waits: %s.", format.PrintableLine(strings.TrimSuffix(last, ".")))
	return last
}

// lastOf returns when an Event was seen last.
func lastOf(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}

// Await waits until the first snapshot is stored, and reports whether there is one to wait for.
func (j *Job) Await(ctx context.Context) (bool, error) {
	warned := ""
	for polls := 1; j.first != ""; polls++ {
		var job batchv1.Job
		if err := j.Kube.Get(ctx, client.ObjectKey{Namespace: j.Owner.Namespace, Name: j.first}, &job); err != nil {
			return false, fmt.Errorf("read Job %s/%s: %w", j.Owner.Namespace, j.first, err)
		}
		for _, c := range job.Status.Conditions {
			switch {
			case c.Status != corev1.ConditionTrue:
			case c.Type == batchv1.JobComplete:
				return true, j.EndFirst(ctx)
			case c.Type == batchv1.JobFailed && c.Reason == batchv1.JobReasonPodFailurePolicy:
				if err := j.EndFirst(ctx); err != nil {
					return false, err
				}
				return false, operate.Halt("the first snapshot is stored, and old ones could not be deleted: kubectl logs job/%s -n %s shows why. The schedule stays, and each run ends so until the store allows it", j.first, j.Owner.Namespace)
			case c.Type == batchv1.JobFailed:
				return false, operate.Halt("the first snapshot failed (%s): kubectl logs job/%s -n %s shows why, or without a pod kubectl describe job. The schedule stays", c.Reason, j.first, j.Owner.Namespace)
			}
		}
		if polls%eventPolls == 0 {
			warned = j.warn(ctx, warned)
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-j.Clock.After(awaitPoll):
		}
	}
	return false, nil
}
