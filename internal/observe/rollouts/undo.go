// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// history lists the revisions of a workload.
const history = "kubectl rollout history"

// UndoNote returns what to do after the command of UndoCommand if that only lists the revisions, else an empty string.
func UndoNote(undo string) string {
	if !strings.HasPrefix(undo, history) {
		return ""
	}
	return "; choose the revision that the healthy pods run for kubectl rollout undo --to-revision"
}

// UndoCommand returns the command that gives a StatefulSet the template back that these pods run. It names the revision:
// without one, kubectl rollout undo takes the previous revision, which after a third template is another one, and a
// second undo takes the first one back. It is empty if the pods run several revisions or the newest one, or if the
// revision is not there. For a user who may not read it, the way begins with the command that lists the revisions.
func UndoCommand(ctx context.Context, kube client.Reader, sts *appsv1.StatefulSet, pods []*corev1.Pod) string {
	name := runRevision(sts, pods)
	if name == "" {
		return ""
	}
	var revision appsv1.ControllerRevision
	err := kube.Get(ctx, client.ObjectKey{Namespace: sts.Namespace, Name: name}, &revision)
	if apierrors.IsForbidden(err) {
		return fmt.Sprintf("%s statefulset/%s -n %s", history, sts.Name, sts.Namespace)
	}
	if ref := metav1.GetControllerOfNoCopy(&revision); err != nil || ref == nil || ref.UID != sts.UID || revision.Revision <= 0 {
		return ""
	}
	return fmt.Sprintf("kubectl rollout undo statefulset/%s --to-revision=%d -n %s", sts.Name, revision.Revision, sts.Namespace)
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
