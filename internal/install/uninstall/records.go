// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// checkLocks checks that no other operation holds a lock that the uninstallation needs: the
// locks of clusters that are cut, and those with the record of a cut. It returns a *HeldError if
// a holder renews one.
func (u *Uninstaller) checkLocks(ctx context.Context, found *Installation, cut []owner.Owner) error {
	locks := map[client.ObjectKey]string{}
	for _, p := range found.Records {
		locks[client.ObjectKeyFromObject(&p)] = clusterOf(p)
	}
	for _, o := range cut {
		locks[client.ObjectKey{Namespace: o.Namespace, Name: lock.Name(o)}] = o.String()
	}
	for lease, cluster := range locks {
		if _, err := u.awaitFree(ctx, lease, cluster); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// clusterOf returns a description of the cluster of a lock.
func clusterOf(p Object) string { return "the cluster of " + p.String() }

// cutRecords returns the leases with the record of a cut, and the locks of operations that
// cut or restore client traffic, or that died while they did.
func cutRecords(ctx context.Context, kube client.Client) ([]Object, error) {
	leases := kind{GroupVersionResource: v1Resource(coordinationv1.GroupName, "leases"), Kind: "Lease"}
	all, err := leases.find(ctx, kube)
	return slices.DeleteFunc(all, func(p Object) bool {
		operation := p.Annotations[lock.OperationAnnotation]
		return !traffic.Recorded(&p) && operation != traffic.CutOperation && operation != traffic.RestoreOperation
	}), err
}

// awaitFree reads the lease of a cluster once no one holds it.
func (u *Uninstaller) awaitFree(ctx context.Context, lease client.ObjectKey, cluster string) (*coordinationv1.Lease, error) {
	return lock.AwaitFree(ctx, u.Kube, lease, lock.Claim{Cluster: cluster, Clock: u.Clock, Waiting: u.Waiting})
}

// deleteRecord waits until no operation holds the lock of a cluster, and deletes it with the
// record of its cut. It returns a *HeldError if a holder renews the lock.
func (u *Uninstaller) deleteRecord(ctx context.Context, p Object) error {
	lease, err := u.awaitFree(ctx, client.ObjectKeyFromObject(&p), clusterOf(p))
	if err == nil {
		// Another operation may have acquired it since.
		err = u.Kube.Delete(ctx, p.object(), client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion})
	}
	_, held := errors.AsType[*lock.HeldError](err)
	switch {
	case held:
		return err
	case apierrors.IsNotFound(err): // the end of its cut deleted it
		return nil
	case err != nil:
		return fmt.Errorf("delete %s: %w", p, err)
	}
	u.Logf("%s is deleted", p)
	return nil
}
