// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Free looks whether the locks that uninstalling takes are anybody's, which would stop it in
// its midst: those of the clusters that are cut, and those that remember a cut. The error is
// a *HeldError where somebody goes on renewing one.
func (u *Uninstall) Free(ctx context.Context, found *Installation, cut []observe.Owner) error {
	locks := map[client.ObjectKey]string{}
	for _, p := range found.Records {
		locks[client.ObjectKeyFromObject(&p)] = clusterOf(p)
	}
	for _, o := range cut {
		locks[client.ObjectKey{Namespace: o.Namespace, Name: LockName(o)}] = o.String()
	}
	for lock, cluster := range locks {
		if _, err := u.unheld(ctx, lock, cluster); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// clusterOf is the cluster whose lock a piece is, as far as that tells.
func clusterOf(p Piece) string { return "the cluster of " + p.String() }

// unheld reads the lock of a cluster once nobody holds it.
func (u *Uninstall) unheld(ctx context.Context, lock client.ObjectKey, cluster string) (*coordinationv1.Lease, error) {
	a := acquirer{kube: u.Kube, cluster: cluster, lease: lock, claim: Claim{Clock: u.Clock, Waiting: u.Waiting}}
	var lease coordinationv1.Lease
	err := u.Kube.Get(ctx, a.lease, &lease)
	if err == nil && holderOf(&lease).Identity != "" {
		err = a.watch(ctx, &lease)
	}
	return &lease, err
}

// forgetCut deletes the lock of a cluster, which remembers a cut, once nobody holds it.
// The error is a *HeldError where somebody goes on renewing it.
func (u *Uninstall) forgetCut(ctx context.Context, p Piece) error {
	lease, err := u.unheld(ctx, client.ObjectKeyFromObject(&p), clusterOf(p))
	if err == nil {
		// Somebody may have taken it since.
		err = u.Kube.Delete(ctx, p.object(), client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion})
	}
	_, held := errors.AsType[*HeldError](err)
	switch {
	case held:
		return err
	case apierrors.IsNotFound(err): // the end of its cut took it away
		return nil
	case err != nil:
		return fmt.Errorf("delete %s: %w", p, err)
	}
	u.Say("%s is deleted", p)
	return nil
}
