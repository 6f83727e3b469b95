// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// CheckHeld returns a *HeldError while another process holds a cluster's lock for one of these
// operations and renews it. It is for read-only commands: it takes no lock and writes
// nothing, and without permission to read the lease it returns nil.
//
// waiting is called, at most once, when the holder may be dead, with how long the lease is
// watched.
func CheckHeld(ctx context.Context, kube client.Client, o owner.Owner, operations []string, waiting func(Holder, time.Duration)) error {
	holder, err := ReadHolder(ctx, kube, o)
	if err != nil {
		return err
	}
	if holder.Identity == "" || !slices.Contains(operations, holder.Operation) {
		return nil
	}
	_, err = AwaitFree(ctx, kube, leaseKey(o), Claim{Cluster: o.String(), Waiting: waiting})
	return client.IgnoreNotFound(err)
}

// AwaitFree reads the lease of a lock. Where it has a holder, it watches the lease: the
// error is a *HeldError when the holder renews it, and nil when the holder is dead or
// releases it. Of the claim it uses Cluster, Waiting and Clock.
func AwaitFree(ctx context.Context, kube client.Client, lease client.ObjectKey, c Claim) (*coordinationv1.Lease, error) {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	a := acquirer{kube: kube, lease: lease, claim: c}
	var found coordinationv1.Lease
	if err := kube.Get(ctx, lease, &found); err != nil {
		return &found, a.wrap(err)
	}
	if holderOf(&found).Identity == "" {
		return &found, nil
	}
	return &found, a.watch(ctx, &found)
}

// ReadHolder returns who holds a cluster's lock. The zero Holder is no one, or no permission
// to read the lease.
func ReadHolder(ctx context.Context, kube client.Reader, o owner.Owner) (Holder, error) {
	var lease coordinationv1.Lease
	err := kube.Get(ctx, leaseKey(o), &lease)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return Holder{}, nil
	}
	if err != nil {
		a := acquirer{claim: Claim{Cluster: o.String()}}
		return Holder{}, a.wrap(err)
	}
	if h := holderOf(&lease); h.Identity != "" {
		return h, nil
	}
	return Holder{}, nil
}
