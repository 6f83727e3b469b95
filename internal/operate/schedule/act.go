// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
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
	pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount = "", "" // a dry run has not created it
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

// write writes the objects, and for Set the annotations. It returns the CronJob if that was written, or the one
// whose first snapshot was not stored.
func (j *Job) write(ctx context.Context) (*batchv1.CronJob, error) {
	cronJob := j.cronJob
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
	for _, o := range j.toDelete() {
		if err := j.StillHeld(); err != nil {
			return err
		}
		if err := j.deleteOurs(ctx, o); err != nil {
			return fmt.Errorf("delete %s %s/%s: %w", kindOf(o), o.GetNamespace(), o.GetName(), err)
		}
	}
	return nil
}

// toDelete returns all objects that a schedule can have, the CronJob first.
func (j *Job) toDelete() []client.Object {
	objects := (builder{owner: j.Owner, Spec: Spec{Every: time.Hour}}).objects()
	slices.Reverse(objects)
	return objects
}

// deleteOurs deletes an object if this command has made it.
func (j *Job) deleteOurs(ctx context.Context, o client.Object) error {
	ours, err := j.readOurs(ctx, o)
	if err != nil || !ours {
		return err
	}
	uid := o.GetUID()
	return client.IgnoreNotFound(j.Kube.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// readOurs reads an object, and reports whether it exists and this command has made it.
func (j *Job) readOurs(ctx context.Context, o client.Object) (bool, error) {
	if err := j.Kube.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return o.GetLabels()["app.kubernetes.io/component"] == labels["app.kubernetes.io/component"], nil
}
