// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WithoutNodes returns a reader that reports no nodes. It is for users of a namespace, most of
// whom may not read nodes.
func WithoutNodes(from client.Reader) client.Reader { return hideNodes{from} }

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
