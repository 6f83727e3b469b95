// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// ReadEtcd returns the Etcd of an owner.
func ReadEtcd(ctx context.Context, kube client.Reader, o owner.Owner) (*druidv1alpha1.Etcd, error) {
	e := &druidv1alpha1.Etcd{}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, e); err != nil {
		return nil, fmt.Errorf("read %s: %w", o, err)
	}
	return e, nil
}

// DeletesClaims reports whether the StatefulSet's controller deletes the claims of replicas that go.
func DeletesClaims(sts *appsv1.StatefulSet) bool {
	p := sts.Spec.PersistentVolumeClaimRetentionPolicy
	return p != nil && p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// ReadStatefulSet returns the StatefulSet of an owner's members.
func ReadStatefulSet(ctx context.Context, kube client.Reader, o owner.Owner) (*appsv1.StatefulSet, error) {
	sts := &appsv1.StatefulSet{}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.StatefulSet}, sts); err != nil {
		return nil, fmt.Errorf("read StatefulSet %s/%s: %w", o.Namespace, o.StatefulSet, err)
	}
	return sts, nil
}
