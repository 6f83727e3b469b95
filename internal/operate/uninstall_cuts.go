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
)

// Free looks whether the locks that remember cuts are anybody's: what they hold back would
// stop uninstalling in its midst. The error is a *HeldError where somebody goes on renewing one.
func (u *Uninstall) Free(ctx context.Context, found *Installation) error {
	for _, p := range found.Records {
		if _, err := u.unheld(ctx, p); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// unheld reads the lock of a cluster once nobody holds it.
func (u *Uninstall) unheld(ctx context.Context, p Piece) (*coordinationv1.Lease, error) {
	a := acquirer{
		kube: u.Kube, cluster: "the cluster of " + p.String(), lease: client.ObjectKeyFromObject(&p),
		claim: Claim{Clock: u.Clock, Waiting: u.Waiting},
	}
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
	lease, err := u.unheld(ctx, p)
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
