// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// etcdLookout is how often to look whether etcd-druid has been installed.
const etcdLookout = 10 * time.Second

// etcds starts the informer of druid's Etcds on every replica, leader or not, as soon as
// they are served, which may be never. Until then nobody needs to ask the cache for
// them: it would ask the API server each time, and hold its lock, which every review
// needs, until there is an answer.
type etcds struct {
	mapper    meta.RESTMapper
	informers cache.Informers
	absent    atomic.Bool
}

// look finds out whether Etcds are served and if so, has them informed of.
func (e *etcds) look(ctx context.Context) error {
	kind := druidv1alpha1.SchemeGroupVersion.WithKind("Etcd")
	_, err := e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		e.absent.Store(true)
		return nil
	}
	if err == nil {
		// Once the manager runs, this waits for the first list, and no review has to.
		_, err = e.informers.GetInformer(ctx, &druidv1alpha1.Etcd{})
	}
	if err != nil {
		return fmt.Errorf("watch Etcds: %w", err)
	}
	e.absent.Store(false)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e *etcds) NeedLeaderElection() bool { return false }

// Start looks until Etcds are served.
func (e *etcds) Start(ctx context.Context) error {
	// It only ends with the context, or when there is nothing more to wait for.
	_ = wait.PollUntilContextCancel(ctx, etcdLookout, false, func(ctx context.Context) (bool, error) {
		if err := e.look(ctx); err != nil {
			log.FromContext(ctx).Error(err, "cannot tell whether Etcds are served")
		}
		return !e.absent.Load(), nil
	})
	return nil
}
