// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// etcd reads the Etcd of the cluster, nil for a cluster that another object describes.
func (g *gatherer) etcd(ctx context.Context) (*druidv1alpha1.Etcd, error) {
	if !g.Owner.IsEtcd() {
		return nil, nil
	}
	var etcd druidv1alpha1.Etcd
	if err := g.Reader.Get(ctx, client.ObjectKey{Namespace: g.Owner.Namespace, Name: g.Owner.Name}, &etcd); err != nil {
		return nil, err // an empty Etcd would be one that asks for 0 members
	}
	return &etcd, nil
}
