// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// CutServices returns the client Services of a cluster that are cut.
func CutServices(ctx context.Context, r *observe.Reader, o owner.Owner) ([]corev1.Service, error) {
	all, err := memberservices.OfClients(ctx, r, o)
	return slices.DeleteFunc(all, func(s corev1.Service) bool {
		_, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		return !cut
	}), err
}

// RestoreAll removes the cut from Services of a cluster and has etcd-druid reconcile again.
// A failure for one Service doesn't stop the others. It needs no lock, because no client
// loses anything by it.
func (c *Cluster) RestoreAll(ctx context.Context, services []string) error {
	var errs []error
	for _, name := range services {
		var restored bool
		err := c.write(ctx, func() (err error) {
			restored, err = Restore(ctx, c.Kube, client.ObjectKey{Namespace: c.Namespace, Name: name})
			return err
		})
		if apierrors.IsNotFound(err) {
			continue // the Service is gone, and its cut with it
		}
		errs = append(errs, err)
		if restored && err == nil {
			c.Logf("Client traffic through Service %s is restored", name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	resumed, err := Resume(ctx, c.Kube, c.Owner)
	if resumed && err == nil {
		c.Logf("etcd-druid reconciles %s again", c.Owner)
	}
	return err
}

// RestoreLocked restores Services under the cluster's lock, and removes the record of the cut. A record that stays is a warning:
// clients are let in, and the record only informs.
func (c *Cluster) RestoreLocked(ctx context.Context, held *lock.Lock, services []string) error {
	if err := c.RestoreAll(ctx, services); err != nil {
		return err
	}
	if err := WriteRecord(ctx, held, nil); err != nil {
		c.Warnf("%v.", err)
	}
	c.Announce(ctx, reasons.ClientTrafficRestored, "client traffic through Service "+strings.Join(services, ", ")+" restored")
	return nil
}

// deleteRecord deletes the record of a cut that has ended. The record stays if another operation has the cluster's lock.
func (c *Cluster) deleteRecord(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	held, err := lock.Acquire(ctx, c.Kube, c.Owner, lock.Claim{Operation: RestoreOperation, Holder: c.Holder})
	if err != nil {
		return
	}
	if err := WriteRecord(ctx, held, nil); err != nil {
		c.Warnf("%v.", err)
	}
	err = held.Release(ctx)
	if _, lost := errors.AsType[*lock.LostError](err); err != nil && !lost {
		c.Warnf("%v.", err)
	}
}
