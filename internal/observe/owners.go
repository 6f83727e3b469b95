// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Owners lists the etcd clusters, Etcds first. It includes an Etcd whose StatefulSet druid has not
// created yet. An Owner points to objects of the cache, which must not be changed.
func (r *Reader) Owners(ctx context.Context, opts ...client.ListOption) ([]Owner, error) {
	// It reads all StatefulSets of a cluster, and few of them run etcd.
	opts = append(opts, client.UnsafeDisableDeepCopy)
	var sets appsv1.StatefulSetList
	if err := r.List(ctx, &sets, opts...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	var etcds druidv1alpha1.EtcdList
	if r.NoEtcds == nil || !r.NoEtcds() {
		// The kind may not be served: etcd-druid may be installed later or never.
		if err := r.List(ctx, &etcds, opts...); err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("list Etcds: %w", err)
		}
	}
	byController := map[types.UID]*appsv1.StatefulSet{}
	var rest []Owner
	for i := range sets.Items {
		sts := &sets.Items[i]
		if owner, ok := StandaloneOwner(sts); ok {
			rest = append(rest, owner)
		} else if ref := metav1.GetControllerOf(sts); ref != nil {
			byController[ref.UID] = sts
		}
	}
	owners := make([]Owner, 0, len(etcds.Items)+len(rest))
	for i := range etcds.Items {
		owners = append(owners, DruidOwner(&etcds.Items[i], byController[etcds.Items[i].UID]))
	}
	return append(owners, rest...), nil
}

// WithLabels returns the owners whose labels the selector matches.
func WithLabels(owners []Owner, selector labels.Selector) []Owner {
	return slices.DeleteFunc(owners, func(o Owner) bool { return !selector.Matches(labels.Set(o.Labels)) })
}
