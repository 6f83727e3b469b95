// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// recordedSets returns the StatefulSets on which admission recorded evictions, because no budget selected
// their members.
func recordedSets(ctx context.Context, kube client.Client) ([]appsv1.StatefulSet, error) {
	return statefulSetsWith(ctx, kube, func(annotations map[string]string) bool {
		_, recorded := annotations[v1alpha1.EvictionsAnnotation]
		return recorded
	})
}

// removeEvictions removes the records of evictions from StatefulSets. A failure for one doesn't stop the
// others.
func (u *Uninstaller) removeEvictions(ctx context.Context) error {
	recorded, err := recordedSets(ctx, u.Kube)
	if err != nil {
		return err
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1alpha1.EvictionsAnnotation+`":null}}}`))
	var failed []error
	for i := range recorded {
		sts := &recorded[i]
		if err := client.IgnoreNotFound(u.Kube.Patch(ctx, sts.DeepCopy(), patch)); err != nil {
			failed = append(failed, fmt.Errorf("remove the record of evictions from StatefulSet %s/%s: %w", sts.Namespace, sts.Name, err))
		}
	}
	return errors.Join(failed...)
}
