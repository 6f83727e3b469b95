// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// UndoCommand returns the command that gives a StatefulSet the template back that these pods run. It names the revision:
// without one, kubectl rollout undo takes the previous revision, which after a third template is another one, and a
// second undo takes the first one back. It is empty if the pods run several revisions or the newest one, or if the
// revision can't be read.
func UndoCommand(ctx context.Context, kube client.Reader, sts *appsv1.StatefulSet, pods []*corev1.Pod) string {
	name := runRevision(sts, pods)
	if name == "" {
		return ""
	}
	var revision appsv1.ControllerRevision
	err := kube.Get(ctx, client.ObjectKey{Namespace: sts.Namespace, Name: name}, &revision)
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
