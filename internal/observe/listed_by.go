// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// ListedBy returns the clusters of whose members a StatefulSet lists some, and which do not list it.
func (r *Reader) ListedBy(ctx context.Context, sts *appsv1.StatefulSet) ([]owner.Key, error) {
	if len(source.PeersOf(sts).Others) == 0 {
		return nil, nil
	}
	owners, err := r.Owners(ctx, client.InNamespace(sts.Namespace))
	var out []owner.Key
	for _, o := range owners {
		if slices.Contains(o.Listers, sts.Name) {
			out = append(out, o.Key())
		}
	}
	return out, err
}
