// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func (a *acquirer) hold(ctx context.Context, lease *coordinationv1.Lease, previous *Holder) *Lock {
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancelCause(ctx)
	l := &Lock{
		Previous: previous, kube: a.kube, clock: a.claim.Clock, name: a.lease.String(),
		ctx: ctx, cancel: cancel, stop: stop, done: make(chan struct{}), lease: lease, renewed: a.sent,
	}
	go l.renewUntilDone(renewing)
	return l
}

// renewUntilDone renews until the lock is released or lost.
func (l *Lock) renewUntilDone(ctx context.Context) {
	defer close(l.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.clock.After(l.untilRenewal()):
		}
		if err := l.renew(ctx); err != nil {
			l.cancel(err)
			return
		}
	}
}

// untilRenewal returns the time until the next renewal: a failed one is retried soon.
func (l *Lock) untilRenewal() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clock.Since(l.renewed) > RetryPeriod {
		return time.Second
	}
	return RetryPeriod
}

// renew returns an error where the lock is lost. It ignores errors that may be temporary until
// RenewDeadline.
func (l *Lock) renew(until context.Context) error {
	sent := l.clock.Now()
	l.mu.Lock()
	next, left := l.lease.DeepCopy(), RenewDeadline-sent.Sub(l.renewed)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(until, min(requestTimeout, left))
	defer cancel()
	next.Spec.RenewTime = new(metav1.NewMicroTime(sent))
	err := l.kube.Update(ctx, next)
	if apierrors.IsConflict(err) {
		next, err = l.reread(ctx)
	}
	switch {
	case err == nil:
		l.mu.Lock()
		l.lease, l.renewed, l.renewErr = next, sent, nil
		l.mu.Unlock()
		return nil
	case apierrors.IsNotFound(err):
		return &LostError{Lease: l.name, Why: "another client deleted it"}
	}
	if lost, ok := err.(*LostError); ok { //nolint:errorlint // reread's own, never wrapped
		return lost
	}
	if until.Err() != nil {
		return nil // released
	}
	// The last attempt has little time. The errors of the attempts before explain more.
	if l.renewErr == nil || !errors.Is(err, context.DeadlineExceeded) {
		l.renewErr = err
	}
	if l.expired() != nil {
		return &LostError{Lease: l.name, Why: fmt.Sprintf("not renewed for %s: %v", policy.Duration(RenewDeadline), l.renewErr)}
	}
	return nil
}

// reread renews the lease after another client has changed it, if this process still holds it.
func (l *Lock) reread(ctx context.Context) (*coordinationv1.Lease, error) {
	l.mu.Lock()
	ours := l.lease.DeepCopy()
	l.mu.Unlock()
	var now coordinationv1.Lease
	if err := l.kube.Get(ctx, client.ObjectKeyFromObject(ours), &now); err != nil {
		return nil, err
	}
	if !sameHolder(&now, ours) {
		return nil, l.heldBy(&now)
	}
	now.Spec.RenewTime = new(metav1.NewMicroTime(l.clock.Now()))
	if err := l.kube.Update(ctx, &now); err != nil {
		return nil, err
	}
	return &now, nil
}

// sameHolder reports whether a lease is that of another reading, and no process has taken it meanwhile.
func sameHolder(a, b *coordinationv1.Lease) bool {
	return a.UID == b.UID && ptr.Equal(a.Spec.HolderIdentity, b.Spec.HolderIdentity) && sameTime(a.Spec.AcquireTime, b.Spec.AcquireTime)
}

func (l *Lock) heldBy(now *coordinationv1.Lease) error {
	return &LostError{Lease: l.name, Why: fmt.Sprintf("it is held by %s", holderOf(now))}
}

// expired returns an error where the last renewal is too long ago. It also compares the wall clock:
// the monotonic clock stops while a machine sleeps.
func (l *Lock) expired() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	ago := max(now.Sub(l.renewed), now.Round(0).Sub(l.renewed.Round(0)))
	if ago <= RenewDeadline {
		return nil
	}
	return &LostError{Lease: l.name, Why: fmt.Sprintf("it was last renewed %s ago, and another process may hold it now", policy.Duration(ago.Round(time.Second)))}
}

// free deletes the lease if it hasn't changed since the last renewal. Where it has records, or without
// permission to delete it, the lease remains, without a holder.
func (l *Lock) free(ctx context.Context) error {
	var err error
	if len(Records(l.lease)) > 0 {
		err = l.clear(ctx)
	} else {
		uid, version := l.lease.UID, l.lease.ResourceVersion
		err = l.kube.Delete(ctx, l.lease, client.Preconditions{UID: &uid, ResourceVersion: &version})
	}
	if apierrors.IsForbidden(err) || apierrors.IsConflict(err) {
		err = l.clear(ctx)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("release lock %s, which ends by itself in %s: %w", l.name, policy.Duration(LeaseDuration), err)
	}
	return nil
}

func (l *Lock) clear(ctx context.Context) error {
	var now coordinationv1.Lease
	if err := l.kube.Get(ctx, client.ObjectKeyFromObject(l.lease), &now); err != nil {
		return err
	}
	if now.UID != l.lease.UID || !ptr.Equal(now.Spec.HolderIdentity, l.lease.Spec.HolderIdentity) {
		return nil
	}
	now.Spec.HolderIdentity = nil
	return l.kube.Update(ctx, &now)
}
