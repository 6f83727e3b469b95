// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Once returns a reader that gets each object at most once. It is for one request: what it has read
// it doesn't read again. Lists are read each time. What it returns must not be written as a whole: see ParseOnce.
func Once(from client.Reader) client.Reader {
	return &once{Reader: from, results: map[objectKey]result{}}
}

// once is a reader that reads each object once, and returns the same result again.
type once struct {
	client.Reader

	mu      sync.Mutex
	results map[objectKey]result
}

// objectKey is the type and the name of an object.
type objectKey struct {
	kind reflect.Type
	name client.ObjectKey
}

// result is an object, or the error that explains why there is none.
type result struct {
	object client.Object
	err    error
}

// Get implements client.Reader.
func (o *once) Get(ctx context.Context, name client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	key := objectKey{reflect.TypeOf(obj), name}
	o.mu.Lock()
	read, known := o.results[key]
	o.mu.Unlock()
	if !known {
		read.err = o.Reader.Get(ctx, name, obj, opts...)
		if read.err == nil {
			if sts, is := obj.(*appsv1.StatefulSet); is {
				ParseOnce(sts)
			}
			read.object = obj.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy has the type of the object
		}
		o.mu.Lock()
		o.results[key] = read
		o.mu.Unlock()
		return read.err
	}
	if read.err == nil {
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(read.object.DeepCopyObject()).Elem())
	}
	return read.err
}
