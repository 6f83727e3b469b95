// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controllertest

import (
	"context"
	"reflect"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// Cached returns a reader of the objects as the manager's cache holds them: without what it drops.
func (s *Store) Cached() client.Reader {
	return &cached{store: s, held: map[client.Object]heldObject{}}
}

// cached reads the objects of a Store as a cache does: from the copies that it holds.
type cached struct {
	store *Store

	mu   sync.Mutex
	held map[client.Object]heldObject
}

// heldObject is an object as the cache holds it, and what it was made of: tests edit objects in place.
type heldObject struct{ whole, held client.Object }

func (c *cached) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	objects, err := c.objects(reflect.TypeOf(obj).Elem().Name())
	if err != nil {
		return err
	}
	return objects.Get(ctx, key, obj, opts...)
}

func (c *cached) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	objects, err := c.objects(strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List"))
	if err != nil {
		return err
	}
	return objects.List(ctx, list, opts...)
}

// objects returns the objects of a kind.
func (c *cached) objects(kind string) (observetest.Objects, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out observetest.Objects
	for _, o := range c.store.Objects {
		if reflect.TypeOf(o).Elem().Name() != kind {
			continue
		}
		h, found := c.held[o]
		if !found || !reflect.DeepEqual(h.whole, o) {
			held, err := observetest.Objects{o}.Cached(source.CacheOptions())
			if err != nil {
				return nil, err
			}
			h = heldObject{whole: o.DeepCopyObject().(client.Object), held: held[0]}
			c.held[o] = h
		}
		out = append(out, h.held)
	}
	return out, nil
}
