// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// UndoCommand returns the command that gives a StatefulSet the template back that these pods run. It names the revision:
// without one, kubectl rollout undo takes the previous revision, which after a third template is another one, and a
// second undo takes the first one back. It is empty if the pods run several revisions or the newest one, or if the
// revision is not there. For a user who may not read it, it is
// the command that lists the revisions, and what to do with them. flags are those of kubectl, each after a space.
func UndoCommand(ctx context.Context, kube client.Reader, sts *appsv1.StatefulSet, pods []*corev1.Pod, flags string) string {
	name := runRevision(sts, pods)
	if name == "" {
		return ""
	}
	var revision appsv1.ControllerRevision
	err := kube.Get(ctx, client.ObjectKey{Namespace: sts.Namespace, Name: name}, &revision)
	if apierrors.IsForbidden(err) {
		return fmt.Sprintf("kubectl rollout history statefulset/%s -n %s%s; choose the revision that the healthy pods run for kubectl rollout undo --to-revision", sts.Name, sts.Namespace, flags)
	}
	if ref := metav1.GetControllerOfNoCopy(&revision); err != nil || ref == nil || ref.UID != sts.UID || revision.Revision <= 0 {
		return ""
	}
	return fmt.Sprintf("kubectl rollout undo statefulset/%s --to-revision=%d -n %s%s", sts.Name, revision.Revision, sts.Namespace, flags)
}

// runRevision returns the revision that all these pods run, empty if they run several, or the newest one.
func runRevision(sts *appsv1.StatefulSet, pods []*corev1.Pod) (name string) {
	for _, p := range pods {
		of := p.Labels[appsv1.StatefulSetRevisionLabel]
		if of == "" || name != "" && of != name {
			return ""
		}
		name = of
	}
	if name == sts.Status.UpdateRevision {
		return ""
	}
	return name
}
