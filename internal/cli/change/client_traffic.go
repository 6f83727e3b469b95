// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// CutServices returns the client Services of a cluster that are cut.
func CutServices(ctx context.Context, c *app.Cluster) ([]corev1.Service, error) {
	all, err := c.Reader.ClientServices(ctx, c.Owner)
	return slices.DeleteFunc(all, func(s corev1.Service) bool {
		_, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		return !cut
	}), err
}

// RestoreTraffic removes the cut from Services of a cluster and has etcd-druid reconcile
// again. A failure for one Service doesn't stop the others. It needs no lock, because no
// client loses anything by it.
func RestoreTraffic(ctx context.Context, a *app.App, c *app.Cluster, services []string) error {
	var errs []error
	for _, name := range services {
		var restored bool
		err := traffic.WriteUnderProtection(ctx, c.Kube, c.Owner, a.Clock, func() (err error) {
			restored, err = traffic.Restore(ctx, c.Kube, client.ObjectKey{Namespace: c.Namespace, Name: name})
			return err
		})
		if apierrors.IsNotFound(err) {
			continue // the Service is gone, and its cut with it
		}
		errs = append(errs, err)
		if restored && err == nil {
			a.Step("Client traffic through Service %s is restored", name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	resumed, err := traffic.Resume(ctx, c.Kube, c.Owner)
	if resumed && err == nil {
		a.Step("etcd-druid reconciles %s again", c.Owner)
	}
	return err
}

// RestoreLocked restores client traffic in a Run, and removes the record of the cut.
func (r *Run) RestoreLocked(ctx context.Context, services []string) error {
	if err := RestoreTraffic(ctx, r.app, r.cluster, services); err != nil {
		return err
	}
	if err := traffic.WriteRecord(ctx, r.Lock, nil); err != nil {
		r.app.Warn("%v.", err)
	}
	r.Done(ctx, reasons.ClientTrafficRestored, "client traffic through Service "+strings.Join(services, ", ")+" restored", "")
	return nil
}
