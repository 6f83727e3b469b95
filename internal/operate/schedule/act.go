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

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Try lets the API server try the writes of the last plan.
func (j *Job) Try(ctx context.Context) error {
	j.StillHeld = func() error { return nil }
	dry := *j
	dry.Kube = client.NewDryRunClient(j.Kube)
	if j.Action == Delete {
		return dry.delete(ctx)
	}
	cronJob, err := dry.write(ctx)
	if err != nil || cronJob == nil || j.Action != Set {
		return err
	}
	return j.tryPod(ctx, dry.Kube, cronJob)
}

// tryPod lets the API server try a pod of the CronJob: the namespace may have limits that refuse each of them. It tries
// nothing if the user may not create pods, because nothing else needs that.
func (j *Job) tryPod(ctx context.Context, dry client.Client, c *batchv1.CronJob) error {
	missing, err := operate.Missing(ctx, j.Kube, []operate.Need{operate.NeedIn(c.Namespace)("create", "", "pods", "", "")})
	if err != nil || len(missing) > 0 {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, GenerateName: c.Name + "-", Labels: labels}, Spec: *c.Spec.JobTemplate.Spec.Template.Spec.DeepCopy()}
	pod.Spec.ServiceAccountName = "" // a dry run has not created it
	if err := dry.Create(ctx, pod); err != nil {
		return fmt.Errorf("create a pod of CronJob %s/%s, which requests 50m of CPU and 128Mi of memory with limits of 2 and 1Gi: %w", c.Namespace, c.Name, err)
	}
	return nil
}

// Act makes the changes of the last plan. For Set it also starts the first snapshot, for which Await waits.
func (j *Job) Act(ctx context.Context) error {
	if j.Action == Delete {
		return j.delete(ctx)
	}
	c, err := j.write(ctx)
	if err != nil || j.first == "" || c == nil {
		return err
	}
	if err := j.StillHeld(); err != nil {
		return err
	}
	if err := j.Kube.Create(ctx, j.firstJob(c)); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("start the first snapshot: %w", err)
	}
	return nil
}

// write writes the objects, and for Set the annotations. It returns the CronJob if that was written.
func (j *Job) write(ctx context.Context) (*batchv1.CronJob, error) {
	var cronJob *batchv1.CronJob
	for _, c := range j.changes {
		if err := j.StillHeld(); err != nil {
			return nil, err
		}
		var err error
		if c.found == nil {
			err = j.Kube.Create(ctx, c.wanted)
		} else {
			err = j.Kube.Patch(ctx, c.wanted, client.MergeFromWithOptions(c.found, client.MergeFromWithOptimisticLock{}))
		}
		if err != nil {
			return nil, fmt.Errorf("write %s %s/%s: %w", kindOf(c.wanted), c.wanted.GetNamespace(), c.wanted.GetName(), err)
		}
		if written, ok := c.wanted.(*batchv1.CronJob); ok {
			cronJob = written
		}
	}
	if j.Action != Set || j.annotated() {
		return cronJob, nil
	}
	return cronJob, j.annotate(ctx, Name(j.Owner.Name), policy.Duration(j.Spec.MaxAge()))
}

// annotate sets the annotations of the StatefulSet, or removes them if they are nil.
func (j *Job) annotate(ctx context.Context, lease, age any) error {
	if err := j.StillHeld(); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": j.Owner.UID, "annotations": map[string]any{
		v1alpha1.BackupLeaseAnnotation: lease, v1alpha1.BackupMaxAgeAnnotation: age,
	}}})
	if err != nil {
		return err
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: j.Owner.Namespace, Name: j.Owner.Name}}
	if err := j.Kube.Patch(ctx, set, client.RawPatch("application/merge-patch+json", text)); err != nil {
		return fmt.Errorf("annotate %s: %w", j.Owner, err)
	}
	return nil
}

// delete removes the annotations first, so that backups don't count as failed when the Lease is gone.
func (j *Job) delete(ctx context.Context) error {
	if j.Owner.Annotations[v1alpha1.BackupLeaseAnnotation] == Name(j.Owner.Name) {
		if err := j.annotate(ctx, nil, nil); err != nil {
			return err
		}
	}
	objects := (builder{owner: j.Owner, Spec: Spec{Every: time.Hour}}).objects()
	slices.Reverse(objects)
	for _, o := range objects {
		if err := j.StillHeld(); err != nil {
			return err
		}
		if err := j.deleteOurs(ctx, o); err != nil {
			return fmt.Errorf("delete %s %s/%s: %w", kindOf(o), o.GetNamespace(), o.GetName(), err)
		}
	}
	return nil
}

// deleteOurs deletes an object if this command has made it.
func (j *Job) deleteOurs(ctx context.Context, o client.Object) error {
	if err := j.Kube.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return client.IgnoreNotFound(err)
	}
	if o.GetLabels()["app.kubernetes.io/component"] != labels["app.kubernetes.io/component"] {
		return nil
	}
	uid := o.GetUID()
	return client.IgnoreNotFound(j.Kube.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// longestBase is the longest beginning of the name of the first Job, which has up to 13 characters more. A name of more
// than 63 can't be the label of its pods.
const longestBase = 50

// runsNow decides whether a snapshot is taken at once: if the CronJob is new or changes.
func (j *Job) runsNow() {
	for _, c := range j.changes {
		if _, ok := c.wanted.(*batchv1.CronJob); ok {
			base := Name(j.Owner.Name)
			base = strings.TrimRight(base[:min(len(base), longestBase)], ".-")
			j.first = fmt.Sprintf("%s-now-%d", base, j.Clock.Now().Unix()%1e8)
		}
	}
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

// Await waits until the first snapshot is stored. It returns false if there is none to wait for.
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
				return true, nil
			case c.Type == batchv1.JobFailed && c.Reason == batchv1.JobReasonPodFailurePolicy:
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
