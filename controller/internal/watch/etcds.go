// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"cmp"
	"context"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// PollInterval is how often to check whether etcd-druid has been installed.
const PollInterval = 10 * time.Second

// Etcds starts a watch of etcd-druid's Etcds as soon as the API server serves them.
// etcd-druid may be installed later or never, and a watch of a kind that doesn't exist
// would keep the whole controller from starting.
type Etcds struct {
	Mapper meta.RESTMapper
	// Begin starts the watch.
	Begin func() error
	// poll is PollInterval if it is 0.
	poll time.Duration
}

// Start implements manager.Runnable: it waits for the kind and starts the watch.
func (w *Etcds) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, cmp.Or(w.poll, PollInterval), true, func(ctx context.Context) (bool, error) {
		_, err := w.Mapper.RESTMapping(druidv1alpha1.SchemeGroupVersion.WithKind("Etcd").GroupKind(), druidv1alpha1.SchemeGroupVersion.Version)
		switch {
		case meta.IsNoMatchError(err):
			return false, nil
		case err != nil:
			log.FromContext(ctx).Error(err, "cannot check whether the API server serves Etcds; retrying")
			return false, nil
		}
		log.FromContext(ctx).Info("watching etcd-druid's Etcds")
		return true, w.Begin()
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the manager is stopping, which is no failure of the watch
	}
	return err
}
