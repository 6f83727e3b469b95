// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package leaseclock

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// Watch records every change of the leases that a cache watches. Each replica does so, leader or
// not, so that a new leader knows ages.
func (c *Clock) Watch(ctx context.Context, informers cache.Informers) error {
	// Starting the manager starts this informer, so this doesn't wait for it.
	informer, err := informers.GetInformer(ctx, &coordinationv1.Lease{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch leases: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { c.observe(o) },
		UpdateFunc: func(_, o any) { c.observe(o) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if lease, ok := o.(*coordinationv1.Lease); ok {
				c.Remove(lease)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch leases: %w", err)
	}
	return nil
}

func (c *Clock) observe(o any) {
	if lease, ok := o.(*coordinationv1.Lease); ok {
		c.Observe(lease)
	}
}
