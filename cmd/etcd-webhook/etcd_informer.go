// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-etcd/kubectl-etcd/controller"
)

// etcdInformer starts the informer of etcd-druid's Etcds on every replica as soon as the API
// server serves them, which may be never. Until then absent keeps readers from requesting
// them from the cache: each such request would go to the API server, and the cache would hold
// a lock that every review needs until the answer arrives.
type etcdInformer struct {
	mapper    meta.RESTMapper
	informers cache.Informers
	absent    atomic.Bool
}

// check checks whether the API server serves Etcds, and starts the informer if it does.
func (e *etcdInformer) check(ctx context.Context) error {
	kind := druidv1alpha1.SchemeGroupVersion.WithKind("Etcd")
	_, err := e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		e.absent.Store(true)
		return nil
	}
	if err == nil {
		// If the manager runs, this waits for the first list, so that no review has to.
		_, err = e.informers.GetInformer(ctx, &druidv1alpha1.Etcd{})
	}
	if err != nil {
		return fmt.Errorf("watch Etcds: %w", err)
	}
	e.absent.Store(false)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e *etcdInformer) NeedLeaderElection() bool { return false }

// Start polls until Etcds are served.
func (e *etcdInformer) Start(ctx context.Context) error {
	// The poll ends without an error, or with the context.
	_ = wait.PollUntilContextCancel(ctx, controller.EtcdPollInterval, false, func(ctx context.Context) (bool, error) {
		if err := e.check(ctx); err != nil {
			log.FromContext(ctx).Error(err, "cannot check whether the API server serves Etcds; retrying")
		}
		return !e.absent.Load(), nil
	})
	return nil
}
