// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// subject identifies what a schedule is written over: the objects that the plan changes, and the annotations of the
// StatefulSet. Another user may have changed the schedule since the plan was made.
func (j *Job) subject() string {
	a := j.Owner.Annotations
	out := []string{a[v1alpha1.BackupLeaseAnnotation], a[v1alpha1.BackupMaxAgeAnnotation]}
	for _, c := range j.changes {
		if c.found != nil {
			out = append(out, identify(c.found))
		}
	}
	return strings.Join(out, "\n")
}

// identify returns the object that exists and what of it a user has written. The times of the last runs, and the name of the
// first Job, change without a user.
func identify(o client.Object) string {
	text := fmt.Sprintf("%s %s %s", kindOf(o), o.GetName(), o.GetUID())
	c, is := o.(*batchv1.CronJob)
	if !is {
		return text
	}
	for _, key := range []string{v1alpha1.ScheduleURLAnnotation, v1alpha1.ScheduleEveryAnnotation, v1alpha1.ScheduleKeepAnnotation} {
		text += " " + c.Annotations[key]
	}
	return text + " " + hashOf(c.Spec)
}
