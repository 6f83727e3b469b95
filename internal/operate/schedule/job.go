// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Action is what to do with a schedule.
type Action string

// The actions.
const (
	Set     Action = "set"
	Suspend Action = "suspend"
	Resume  Action = "resume"
	Delete  Action = "delete"
)

// Job is a change of the schedule of one cluster.
type Job struct {
	Kube   client.Client
	Owner  owner.Owner
	Spec   Spec // for Set
	Action Action
	Clock  clock.Clock

	// Warnf reports what keeps the first snapshot waiting. Nil reports nothing.
	Warnf func(format string, args ...any)
	// StillHeld returns an error if the cluster's lock may be lost.
	StillHeld func() error
	// first is the Job that takes the first snapshot, empty for none.
	first string
	// cronJob is the one that has the name of first and is not written again.
	cronJob *batchv1.CronJob
	// changes are what the last plan writes, in order.
	changes []change
}

// change is one object to create, or to write over what was found.
type change struct {
	found, wanted client.Object // found is nil to create
}

// Needs returns the permissions.
func (j *Job) Needs() []operate.Need {
	in, name := operate.NeedIn(j.Owner.Namespace), Name(j.Owner.Name)
	needs := []operate.Need{in("get", "apps", "statefulsets", "", j.Owner.Name), in("get", "batch", "cronjobs", "", name), in("patch", "apps", "statefulsets", "", j.Owner.Name)}
	kinds := [][2]string{{"batch", "cronjobs"}}
	verbs := []string{"patch"}
	if j.Action == Set || j.Action == Delete {
		kinds = append(kinds, [2]string{"coordination.k8s.io", "leases"}, [2]string{"", "serviceaccounts"}, [2]string{rbacv1.GroupName, "roles"}, [2]string{rbacv1.GroupName, "rolebindings"})
		verbs = []string{"get", "create", "patch"}
	} else {
		needs = needs[:2]
	}
	if j.Action == Delete {
		verbs = []string{"get", "delete"}
	}
	for _, kind := range kinds {
		for _, verb := range verbs {
			object := name
			if verb == "create" {
				object = "" // the name of a new object can't be checked
			}
			needs = append(needs, in(verb, kind[0], kind[1], "", object))
		}
	}
	if j.Action == Set {
		needs = append(needs, in("create", "batch", "jobs", "", ""), in("get", "batch", "jobs", "", ""))
	}
	return needs
}

// Judge returns the plan, or an error if the cluster can't have a schedule.
func (j *Job) Judge(ctx context.Context) (operate.Plan, error) {
	j.changes, j.first, j.cronJob = nil, "", nil
	if err := j.supported(); err != nil {
		return operate.Plan{}, err
	}
	if j.Action != Set {
		return j.judgeOther(ctx)
	}
	b, err := j.builder(ctx)
	if err != nil {
		return operate.Plan{}, err
	}
	plan := operate.Plan{Title: fmt.Sprintf("save a snapshot of %s every %s to %s", j.Owner, policy.Duration(j.Spec.Every), j.Spec.To)}
	for _, wanted := range b.objects() {
		done, err := j.compare(ctx, wanted)
		if err != nil {
			return operate.Plan{}, err
		}
		if !done {
			plan.Steps = append(plan.Steps, j.stepOf(wanted))
		}
	}
	if err := j.planFirst(ctx, &plan); err != nil {
		return operate.Plan{}, err
	}
	annotated := j.annotated()
	if !annotated {
		plan.Steps = append(plan.Steps, fmt.Sprintf("annotate %s, so that BackupReady is False if the last snapshot is older than %s", j.Owner, policy.Duration(j.Spec.MaxAge())))
	}
	if len(j.changes) == 0 && j.first == "" && annotated {
		return operate.Plan{Already: fmt.Sprintf("%s already has this schedule: kubectl etcd snapshot list %s -n %s shows its snapshots.", j.Owner, j.Owner.Target(), j.Owner.Namespace)}, nil
	}
	plan.Facts = []string{
		fmt.Sprintf("CronJob %s runs %s and keeps %d snapshots", Name(j.Owner.Name), j.Spec.Image, j.Spec.Keep),
		"its ServiceAccount may read only what leads to the members, and renew its Lease",
	}
	plan.Subject = j.subject()
	if err := j.warnOfKeep(ctx, &plan); err != nil {
		return operate.Plan{}, err
	}
	if c := j.Owner.Controller; c != nil {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s %s controls the StatefulSet, and may remove its annotations. Then the state of backups is not known.", c.Kind, c.Name))
	}
	return plan, nil
}

// judgeOther returns the plan for a schedule that is deleted, suspended or resumed.
func (j *Job) judgeOther(ctx context.Context) (operate.Plan, error) {
	if j.Action == Delete {
		return j.judgeDelete(ctx)
	}
	return j.judgeExisting(ctx)
}

// warnOfKeep warns of snapshots that the next run deletes, because fewer are kept than before.
func (j *Job) warnOfKeep(ctx context.Context, plan *operate.Plan) error {
	now, err := Find(ctx, j.Kube, j.Owner)
	if err == nil && now != nil && now.Keep > j.Spec.Keep {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("The next run deletes all but the newest %s. Up to %d have been kept until now: to keep that many, add --keep %d.",
			policy.Count(j.Spec.Keep, "snapshot"), now.Keep, now.Keep))
	}
	return err
}

// supported refuses clusters whose owner can't have the annotations.
func (j *Job) supported() error {
	o := j.Owner
	switch {
	case o.Product().Fields[flavour.Schedule] != "":
		return j.ofOperator()
	case o.Kind != "StatefulSet" || o.InParts():
		return operate.Refuse("a schedule needs a cluster on one StatefulSet, whose annotations name the Lease of the backups: run kubectl etcd snapshot save %s URL -n %s from a job of your own", o.Target(), o.Namespace)
	}
	return nil
}

func (j *Job) builder(ctx context.Context) (builder, error) {
	b := builder{Spec: j.Spec, owner: j.Owner, lock: lock.Name(j.Owner)}
	if err := j.Spec.Validate(j.Owner.Namespace + "/" + j.Owner.Name); err != nil {
		return b, err
	}
	if lease := j.Owner.Annotations[v1alpha1.BackupLeaseAnnotation]; lease != "" && lease != Name(j.Owner.Name) {
		return b, operate.Refuse("Lease %s records the backups of %s already (annotation %s): if its job is gone, run kubectl annotate statefulset %s -n %s %s- %s-",
			lease, j.Owner, v1alpha1.BackupLeaseAnnotation, j.Owner.Name, j.Owner.Namespace, v1alpha1.BackupLeaseAnnotation, v1alpha1.BackupMaxAgeAnnotation)
	}
	var set appsv1.StatefulSet
	if err := j.Kube.Get(ctx, client.ObjectKey{Namespace: j.Owner.Namespace, Name: j.Owner.Name}, &set); err != nil {
		return b, fmt.Errorf("read %s: %w", j.Owner, err)
	}
	b.reads, b.like = references(set.Spec.Template.Spec), set.Spec.Template.Spec
	return b, nil
}

// compare adds a change if an object is not as wanted, and reports whether it is.
func (j *Job) compare(ctx context.Context, wanted client.Object) (bool, error) {
	found, _ := wanted.DeepCopyObject().(client.Object)
	err := j.Kube.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if apierrors.IsNotFound(err) {
		j.changes = append(j.changes, change{wanted: wanted})
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if found.GetLabels()["app.kubernetes.io/component"] != labels["app.kubernetes.io/component"] {
		return false, operate.Refuse("%s has the name of an object of the schedule, and was not created by this command: delete or rename it", kindOf(wanted)+" "+found.GetNamespace()+"/"+found.GetName())
	}
	if same(found, wanted) {
		return true, nil
	}
	j.changes = append(j.changes, change{found, over(found, wanted)})
	return false, nil
}

// same reports whether an object has all that is wanted. What the API server or others add does not count.
func same(found, wanted client.Object) bool {
	for key, value := range wanted.GetAnnotations() {
		if found.GetAnnotations()[key] != value {
			return false
		}
	}
	switch w := wanted.(type) {
	case *rbacv1.Role:
		return equality.Semantic.DeepEqual(found.(*rbacv1.Role).Rules, w.Rules) //nolint:forcetypeassert // a copy of the other
	case *rbacv1.RoleBinding:
		f := found.(*rbacv1.RoleBinding) //nolint:forcetypeassert // a copy of the other
		return equality.Semantic.DeepEqual(f.RoleRef, w.RoleRef) && slices.Equal(subjectNames(f.Subjects), subjectNames(w.Subjects))
	case *batchv1.CronJob:
		f := found.(*batchv1.CronJob) //nolint:forcetypeassert // a copy of the other
		return includes(f.Spec, w.Spec)
	}
	return true
}

func subjectNames(subjects []rbacv1.Subject) []string {
	var out []string
	for _, s := range subjects {
		out = append(out, s.Kind+" "+s.Namespace+"/"+s.Name)
	}
	return out
}

// over returns what was found with all that is wanted.
func over(found, wanted client.Object) client.Object {
	out, _ := found.DeepCopyObject().(client.Object)
	annotations := map[string]string{}
	for _, from := range []map[string]string{found.GetAnnotations(), wanted.GetAnnotations()} {
		maps.Copy(annotations, from)
	}
	out.SetAnnotations(annotations)
	switch w := wanted.(type) {
	case *rbacv1.Role:
		out.(*rbacv1.Role).Rules = w.Rules //nolint:forcetypeassert // a copy of the other
	case *rbacv1.RoleBinding:
		out.(*rbacv1.RoleBinding).Subjects = w.Subjects //nolint:forcetypeassert // a copy of the other
	case *batchv1.CronJob:
		out.(*batchv1.CronJob).Spec = w.Spec //nolint:forcetypeassert // a copy of the other
	}
	return out
}

func kindOf(o client.Object) string {
	switch o.(type) {
	case *corev1.ServiceAccount:
		return "ServiceAccount"
	case *rbacv1.Role:
		return "Role"
	case *rbacv1.RoleBinding:
		return "RoleBinding"
	case *batchv1.CronJob:
		return "CronJob"
	}
	return "Lease"
}

func (j *Job) stepOf(wanted client.Object) string {
	verb := "change"
	if j.changes[len(j.changes)-1].found == nil {
		verb = "create"
	}
	return verb + " " + kindOf(wanted) + " " + wanted.GetName()
}

// annotated reports whether the StatefulSet names the Lease and its maximum age.
func (j *Job) annotated() bool {
	a := j.Owner.Annotations
	return a[v1alpha1.BackupLeaseAnnotation] == Name(j.Owner.Name) && a[v1alpha1.BackupMaxAgeAnnotation] == policy.Duration(j.Spec.MaxAge())
}
