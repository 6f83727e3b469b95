// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// helperPrefix begins the names of a restore's helper pods.
const helperPrefix = "restore-"

// findHelpers returns the pods with the name of a restore's helper, which nothing controls.
func (v *view) findHelpers(ctx context.Context) ([]Item, error) {
	pods, err := v.readPods(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range pods {
		pod := &pods[at]
		name, named := strings.CutPrefix(pod.Name, helperPrefix)
		if !named || metav1.GetControllerOf(pod) != nil || pod.DeletionTimestamp != nil {
			continue
		}
		owners, err := v.readOwners(ctx)
		if err != nil {
			return nil, err
		}
		if o := helped(owners, pod, name); o != nil {
			i := Item{Resource: "pods", object: pod, Owner: o, Since: pod.CreationTimestamp.Time}
			i.Facts.Locked, i.Facts.Unfinished = v.locked(ctx, pod.Namespace, lock.Name(*o)), v.unfinished(ctx, *o)
			items = append(items, i)
		}
	}
	return items, nil
}

// helped returns the cluster of a helper with the name of a StatefulSet or of one of its pods, nil for
// none.
func helped(owners []owner.Owner, pod *corev1.Pod, name string) *owner.Owner {
	for at := range owners {
		o := &owners[at]
		if o.Namespace == pod.Namespace && o.StatefulSet != "" && (name == o.StatefulSet || o.Ordinal(name) >= 0) {
			return o
		}
	}
	return nil
}
