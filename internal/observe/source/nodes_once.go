// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// nodesByName is how many nodes are read one by one. For more, one list of all is quicker.
	nodesByName = 50
	// nodesAtOnce is how many of a list are read at once.
	nodesAtOnce = 500
)

// nodesOnce gets nodes. Most users of a namespace may not, so it asks for no other one after the first refusal.
type nodesOnce struct {
	client.Reader

	refusal atomic.Pointer[error]

	mu    sync.Mutex
	names map[string]bool
	// listed are all nodes, nil while they are not listed, and empty if they can't be.
	listed map[string]*corev1.Node
}

// Get implements client.Reader.
func (n *nodesOnce) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := n.refusal.Load(); err != nil {
		return *err
	}
	node, is := obj.(*corev1.Node)
	if have := n.fromList(ctx, key.Name); is && have != nil {
		have.DeepCopyInto(node)
		return nil
	}
	err := n.Reader.Get(ctx, key, obj, opts...)
	if apierrors.IsForbidden(err) {
		n.refusal.Store(&err)
	}
	return err
}

// fromList returns a node if so many were asked for that all are listed. One that is not in the list may be newer, so it
// is read by its name.
func (n *nodesOnce) fromList(ctx context.Context, name string) *corev1.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = map[string]bool{}
	}
	if n.names[name] = true; len(n.names) <= nodesByName {
		return nil
	}
	if n.listed == nil {
		n.listed = n.list(ctx)
	}
	return n.listed[name]
}

// list returns all nodes in what is read of them, and none if a portion can't be read.
func (n *nodesOnce) list(ctx context.Context) map[string]*corev1.Node {
	all := map[string]*corev1.Node{}
	for next := ""; ; {
		var portion corev1.NodeList
		if err := n.List(ctx, &portion, client.Limit(nodesAtOnce), client.Continue(next)); err != nil {
			return map[string]*corev1.Node{}
		}
		for i := range portion.Items {
			node := &portion.Items[i]
			node.ManagedFields, node.Status.Images = nil, nil
			all[node.Name] = node
		}
		if next = portion.Continue; next == "" {
			return all
		}
	}
}
