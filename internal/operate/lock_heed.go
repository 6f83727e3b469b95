// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Heed returns a *HeldError where somebody holds a cluster's lock for one of these
// operations and renews it. It takes no lock and writes nothing, so it is for what
// only reads: whoever may not even read the lease is told nothing.
//
// waiting is told, at most once, that the holder may be dead and for how long that
// is watched.
func Heed(ctx context.Context, kube client.Client, o observe.Owner, operations []string, waiting func(Holder, time.Duration)) error {
	a := acquirer{
		kube: kube, cluster: o.String(), lease: client.ObjectKey{Namespace: o.Namespace, Name: LockName(o)},
		claim: Claim{Clock: clock.RealClock{}, Waiting: waiting},
	}
	var lease coordinationv1.Lease
	err := kube.Get(ctx, a.lease, &lease)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return a.explain(err)
	}
	if h := holderOf(&lease); h.Identity == "" || !slices.Contains(operations, h.Operation) {
		return nil
	}
	err = a.watch(ctx, &lease)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
