// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
)

// findHelpers returns the pods with the label of a restore's helper.
func (v *view) findHelpers(ctx context.Context) ([]Item, error) {
	pods, err := v.readPods(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range pods {
		pod := &pods[at]
		if pod.Labels[v1alpha1.RestoreOfLabel] == "" || pod.DeletionTimestamp != nil {
			continue
		}
		owners, err := v.readOwners(ctx)
		if err != nil {
			return nil, err
		}
		if o := helped(owners, pod); o != nil {
			i := Item{Resource: "pods", object: pod, Owner: o, Since: pod.CreationTimestamp.Time}
			i.Facts.Locked, i.Facts.Unfinished = v.locked(ctx, pod.Namespace, lock.Name(*o)), v.unfinished(ctx, *o)
			items = append(items, i)
		}
	}
	return items, nil
}

// helped returns the cluster of a helper, nil for none. Its StatefulSet may have been created again since, with
// another UID: then the name of the helper shows it.
func helped(owners []owner.Owner, pod *corev1.Pod) *owner.Owner {
	name := pod.Name
	for _, end := range []string{restore.StoreEnd, restore.ImageEnd, restore.VolumeEnd, restore.HelperEnd} {
		name = strings.TrimSuffix(name, end)
	}
	for at := range owners {
		o := &owners[at]
		if o.Namespace == pod.Namespace && o.StatefulSet != "" && (pod.Labels[v1alpha1.RestoreOfLabel] == string(o.UID) || name == o.StatefulSet || o.Ordinal(name) >= 0) {
			return o
		}
	}
	return nil
}
