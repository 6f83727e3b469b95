// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// etcdLookout is how often to look whether etcd-druid has been installed.
const etcdLookout = 10 * time.Second

// etcdWatch starts a watch on druid's Etcds as soon as the API server serves
// them: etcd-druid may be installed later, or never, and a watch on a kind that
// doesn't exist would keep the whole controller from starting.
type etcdWatch struct {
	mapper meta.RESTMapper
	start  func() error
}

// Start waits for the kind and starts the watch.
func (w *etcdWatch) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, etcdLookout, true, func(ctx context.Context) (bool, error) {
		_, err := w.mapper.RESTMapping(druidv1alpha1.SchemeGroupVersion.WithKind("Etcd").GroupKind(), druidv1alpha1.SchemeGroupVersion.Version)
		switch {
		case meta.IsNoMatchError(err):
			return false, nil
		case err != nil:
			log.FromContext(ctx).Error(err, "cannot tell whether Etcds are served")
			return false, nil
		}
		log.FromContext(ctx).Info("watching etcd-druid's Etcds")
		return true, w.start()
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the manager is stopping, which is no failure of the watch
	}
	return err
}
