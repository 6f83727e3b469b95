// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observetest

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cached returns copies of the objects as a cache with the options holds them.
func (o Objects) Cached(options cache.Options) (Objects, error) {
	var out Objects
	for _, obj := range o {
		transform := options.DefaultTransform
		for kind, by := range options.ByObject {
			if reflect.TypeOf(kind) == reflect.TypeOf(obj) && by.Transform != nil {
				transform = by.Transform
			}
		}
		// Twice, as a relist may do.
		var held any = obj.DeepCopyObject()
		for range 2 {
			var err error
			if held, err = transform(held); err != nil {
				return nil, err
			}
		}
		kept, ok := held.(client.Object)
		if !ok {
			return nil, fmt.Errorf("the cache would hold a %T", held)
		}
		out = append(out, kept)
	}
	return out, nil
}
