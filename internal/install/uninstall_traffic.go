// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// restore ends the cut of a Service as restore-client-traffic does: under the cluster's lock, with
// all Services of the cluster that are cut, and with the record of the cut.
func (u *Uninstall) restore(ctx context.Context, key client.ObjectKey) error {
	var service corev1.Service
	if err := u.Kube.Get(ctx, key, &service); err != nil {
		return client.IgnoreNotFound(err)
	}
	o, err := u.ownerOfService(ctx, &service)
	if err != nil {
		return err
	}
	if o == nil { // the Service selects no members any more
		return u.restoreAlone(ctx, key)
	}
	services, err := traffic.CutServices(ctx, u.Reader, *o)
	if err != nil {
		return err
	}
	var names []string
	for i := range services {
		names = append(names, services[i].Name)
	}
	if !slices.Contains(names, key.Name) {
		return u.restoreAlone(ctx, key) // a cut by the plugin wouldn't choose this Service: it was cut by hand
	}
	return u.Restore(ctx, *o, names)
}

// restoreAlone ends the cut of a Service that belongs to no cluster.
func (u *Uninstall) restoreAlone(ctx context.Context, key client.ObjectKey) error {
	if _, err := traffic.Restore(ctx, u.Kube, key); err != nil {
		return err
	}
	u.Logf("Client traffic through Service %s is restored", key)
	return nil
}
