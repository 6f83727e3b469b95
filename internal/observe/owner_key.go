// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OwnerKey names an owner, whatever its kind.
type OwnerKey struct {
	Kind      string
	Namespace string
	Name      string
}

// String is the key as logs and messages have it.
func (k OwnerKey) String() string { return k.Kind + " " + k.Namespace + "/" + k.Name }

// Key names the owner.
func (o Owner) Key() OwnerKey {
	return OwnerKey{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Ref names the owner within its namespace, as Kind/name.
func (o Owner) Ref() string { return o.Key().Ref() }

// Ref names the owner within its namespace, as Kind/name.
func (k OwnerKey) Ref() string { return k.Kind + "/" + k.Name }

// Owner reads the owner of that name. False when there is none, or when a
// StatefulSet of that name runs no etcd or is only the workload of another owner.
func (r *Reader) Owner(ctx context.Context, key OwnerKey) (Owner, bool, error) {
	if key.Kind == etcdKind.Kind {
		return r.OwnerOfEtcd(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
	}
	var sts appsv1.StatefulSet
	found, err := r.fetch(ctx, key.Namespace, key.Name, &sts)
	if err != nil {
		return Owner{}, false, fmt.Errorf("observe %s: %w", key, err)
	}
	if !found {
		return Owner{}, false, nil
	}
	owner, found, err := r.OwnerOfStatefulSet(ctx, &sts)
	return owner, found && owner.Key() == key, err
}
