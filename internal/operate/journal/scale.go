// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// beforeKey has the text of the journal that a scale took over.
const beforeKey = "before.json"

// AwaitsScale reports whether only a scale is left of a restore of this StatefulSet. A StatefulSet that still has the
// mark of a restore is one whose restore has not ended, whatever its journal has: more users may write that.
func (j *Journal) AwaitsScale(sts *appsv1.StatefulSet) bool {
	_, marked := sts.Annotations[v1alpha1.RestoreAnnotation]
	return j.Kind == KindRestore && j.ScaleTo > 0 && j.Object == sts.UID && !marked
}

// takeOver writes the journal of a scale in place of one that awaits a scale, in one write, so that there is always one
// of them. It reports whether there was such a journal, in the version that it has read.
func (j *Journal) takeOver(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, text string, dry bool) (took bool, err error) {
	var before Journal
	if err := kube.Get(ctx, client.ObjectKey{Namespace: sts.Namespace, Name: nameOf(sts.Name)}, &before.config); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if unread := before.parse(); unread != nil || j.Kind != kindScale || !before.AwaitsScale(sts) {
		return false, nil //nolint:nilerr // what can't be read is no journal that awaits a scale
	}
	after := before.config.DeepCopy()
	after.Data[beforeKey], after.Data[dataKey], after.Data[aboutKey] = before.config.Data[dataKey], text, j.about(sts.Name)
	options := []client.PatchOption{}
	if dry {
		options = append(options, client.DryRunAll)
	}
	patch := client.MergeFromWithOptions(&before.config, client.MergeFromWithOptimisticLock{})
	if err := kube.Patch(ctx, after, patch, options...); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	j.config = *after
	return true, nil
}

// Reinstate ends a scale that was undone. The journal that it took over is again as it was, because no other object has
// the number of members that the cluster is to get. If there is none, the journal is removed.
func (j *Journal) Reinstate(ctx context.Context, kube client.Client) error {
	text, took := j.config.Data[beforeKey]
	before := Journal{config: corev1.ConfigMap{Data: map[string]string{dataKey: text}}}
	if !took || before.parse() != nil || before.ScaleTo == 0 {
		return j.Delete(ctx, kube)
	}
	after := j.config.DeepCopy()
	delete(after.Data, beforeKey)
	after.Data[dataKey], after.Data[aboutKey] = text, before.about(statefulSetOf(j.config.Name))
	err := kube.Patch(ctx, after, client.MergeFrom(&j.config))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the journal %s/%s: %w", j.config.Namespace, j.config.Name, err)
	}
	return nil
}

// DeleteUnchanged removes the journal if it is as it was read. A journal that another command has taken over stays.
func (j *Journal) DeleteUnchanged(ctx context.Context, kube client.Client) error {
	uid, version := j.config.UID, j.config.ResourceVersion
	err := kube.Delete(ctx, &j.config, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if apierrors.IsConflict(err) {
		err = ErrChanged
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the journal %s/%s: %w", j.config.Namespace, j.config.Name, err)
	}
	return nil
}

// about describes the journal of a StatefulSet to a person who finds it.
func (j *Journal) about(statefulSet string) string {
	if j.ScaleTo > 0 {
		return fmt.Sprintf("kubectl etcd %s on this StatefulSet has ended, and members are still to be added. To add them: kubectl etcd scale statefulset/%[2]s --replicas %[3]d. To leave them out: kubectl etcd scale statefulset/%[2]s --abort. Don't delete this.",
			j.Kind, statefulSet, j.ScaleTo)
	}
	return "kubectl etcd " + j.Kind + " is under way on this StatefulSet, or was interrupted. To resume it, run the same command again. To undo it, add --abort. Don't delete this."
}
