// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodesOnce gets nodes. Most users of a namespace may not, so it asks for no other one after the first refusal.
type nodesOnce struct {
	client.Reader

	refusal atomic.Pointer[error]
}

// Get implements client.Reader.
func (n *nodesOnce) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := n.refusal.Load(); err != nil {
		return *err
	}
	err := n.Reader.Get(ctx, key, obj, opts...)
	if apierrors.IsForbidden(err) {
		n.refusal.Store(&err)
	}
	return err
}
