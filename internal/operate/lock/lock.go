// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The times of a lock, named as in client-go's leader election. A holder stops before another
// can take its lock, and can retry a renewal before it stops. The compiler checks both: a
// negative constant is no uint.
const (
	// LeaseDuration is how long the lock outlives its last renewal.
	LeaseDuration = 15 * time.Second
	// RenewDeadline is after how long without a renewal the holder stops by itself. It
	// must have stopped before another can take the lock.
	RenewDeadline = 10 * time.Second
	// RetryPeriod is the time between two renewals.
	RetryPeriod = 4 * time.Second
	// requestTimeout is how long one renewal may take. A failed one is retried before the
	// deadline.
	requestTimeout = 4 * time.Second

	_ = uint(LeaseDuration - RenewDeadline - requestTimeout)
	_ = uint(RenewDeadline - RetryPeriod - requestTimeout)
)

// Lock is held by one operation on one cluster; only one can hold it at a time.
// It is renewed in the background until Release.
type Lock struct {
	// Previous is the holder that no longer renewed the lock, nil where there was none.
	// Its operation may be half done.
	Previous *Holder

	kube  client.Client
	clock clock.Clock
	// name is the lease's namespace and name.
	name string

	ctx    context.Context //nolint:containedctx // what the lock is for: it ends when the lock is lost
	cancel context.CancelCauseFunc
	// stop ends the renewal, which outlives ctx: an interrupted operation still cleans up under
	// the lock. done is closed when it has ended.
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	lease *coordinationv1.Lease
	// renewed is when the request that last renewed it was sent.
	renewed time.Time
	// renewErr is why renewals have failed since then. Only the renewal uses it.
	renewErr error
}

// ErrReleased is the cause of a lock's context after its release.
var ErrReleased = errors.New("the lock was released")

// Context ends when the lock is lost or released, or the context that it was
// acquired with ends; context.Cause returns which. Work under the lock uses it, and
// calls StillHeld right before each change.
func (l *Lock) Context() context.Context { return l.ctx }

// StillHeld returns an error where another process may have the lock, or the context has
// ended. It also notices what the background renewal can't yet: that this machine was
// suspended for too long.
func (l *Lock) StillHeld() error {
	if err := l.ctx.Err(); err != nil {
		return context.Cause(l.ctx)
	}
	if err := l.expired(); err != nil {
		l.cancel(err)
		return err
	}
	return nil
}

// notLost returns an error if the lock is lost. Unlike StillHeld, it accepts a lock that may be lost: it is for cleaning up.
func (l *Lock) notLost() error {
	if lost, isLost := errors.AsType[*LostError](context.Cause(l.ctx)); isLost {
		return lost
	}
	return l.expired()
}

// Release frees the lock for others at once. It also works after the context has ended.
// A lost lock is left alone.
func (l *Lock) Release(ctx context.Context) error {
	lost, isLost := errors.AsType[*LostError](context.Cause(l.ctx))
	l.cancel(ErrReleased)
	l.stop()
	<-l.done
	if isLost {
		return lost
	}
	// After that the lease has ended by itself.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeaseDuration)
	defer cancel()
	return l.free(ctx)
}
