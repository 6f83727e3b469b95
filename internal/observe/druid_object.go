// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Etcd reads the Etcd of a cluster. is is false for a cluster that another object describes. The Etcd is nil
// then, and where it doesn't exist.
func (r *Reader) Etcd(ctx context.Context, o owner.Owner) (etcd *druidv1alpha1.Etcd, is bool, err error) {
	if !o.IsEtcd() {
		return nil, false, nil
	}
	etcd = &druidv1alpha1.Etcd{}
	found, err := r.Fetch(ctx, o.Namespace, o.Name, etcd)
	if err != nil || !found {
		return nil, true, err
	}
	return etcd, true, nil
}
