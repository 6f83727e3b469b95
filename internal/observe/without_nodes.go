// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WithoutNodes is a Reader for whom there are no nodes. Members' zones are unknown
// then, and all else is as it was: for those who ask whether a cluster is well, and
// may not read nodes, as most users of a namespace.
func (r *Reader) WithoutNodes() *Reader {
	out := &Reader{Reader: hideNodes{r.Reader}, Leases: r.Leases}
	if r.Live != nil {
		out.Live = hideNodes{r.Live}
	}
	return out
}

type hideNodes struct{ client.Reader }

// Get implements client.Reader.
func (n hideNodes) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, node := obj.(*corev1.Node); node {
		return apierrors.NewNotFound(corev1.Resource("nodes"), key.Name)
	}
	return n.Reader.Get(ctx, key, obj, opts...)
}

// List implements client.Reader.
func (n hideNodes) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, nodes := list.(*corev1.NodeList); nodes {
		return nil
	}
	return n.Reader.List(ctx, list, opts...)
}
