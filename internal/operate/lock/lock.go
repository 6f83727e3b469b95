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

// How long the lock outlives its holder's last renewal, how often it is renewed,
// and after how long without one its holder stops by itself. The last is shorter
// than the first, so that the old holder has stopped before a new one begins.
const (
	LeaseDuration  = 15 * time.Second
	RetryPeriod    = 4 * time.Second
	requestTimeout = 4 * time.Second
	RenewDeadline  = 10 * time.Second
)

// Lock is held by one operation on one cluster; only one can hold it at a time.
// It is renewed in the background until Release.
type Lock struct {
	// Previous says whose lock this was that wasn't renewed any more, nil for
	// nobody's. That operation may be half done.
	Previous *Holder

	kube  client.Client
	clock clock.Clock
	// name is the lease's namespace and name.
	name string

	ctx    context.Context //nolint:containedctx // what the lock is for: it ends when the lock is lost
	cancel context.CancelCauseFunc
	// stop ends the renewal, which outlives ctx: who is interrupted still cleans
	// up under the lock. done says that it has ended.
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	lease *coordinationv1.Lease
	// renewed is when the request that last renewed it was sent.
	renewed time.Time
	// renewErr is why renewals fail since then; only the renewal uses it.
	renewErr error
}

// ErrReleased is the cause of a lock's context after its release.
var ErrReleased = errors.New("the lock was released")

// Context ends when the lock is lost or released, or the context that it was
// acquired with ends; context.Cause says which. Work under the lock uses it, and
// asks Held right before each change.
func (l *Lock) Context() context.Context { return l.ctx }

// StillHeld is nil as long as nobody else can have the lock, else why that isn't so.
// It also notices what the background renewal can't tell yet: that this machine
// slept or was stopped for too long.
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

// notLost is Held for who cleans up: only a lock that was lost is an error.
func (l *Lock) notLost() error {
	if lost, isLost := errors.AsType[*LostError](context.Cause(l.ctx)); isLost {
		return lost
	}
	return l.expired()
}

// Release gives the lock back; whoever waits can have it at once. It works after
// the context has ended, too. Nothing happens to a lock that was lost.
func (l *Lock) Release(ctx context.Context) error {
	lost, isLost := errors.AsType[*LostError](context.Cause(l.ctx))
	l.cancel(ErrReleased)
	l.stop()
	<-l.done
	if isLost {
		return lost
	}
	// For longer there is nothing to give back.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeaseDuration)
	defer cancel()
	return l.free(ctx)
}
