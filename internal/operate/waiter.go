// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// Waiter remembers what an operation waits for: it is logged once, and is in the error when the context
// ends. The zero value waits for nothing. It is for one goroutine.
type Waiter struct{ awaited string }

// Await logs what is awaited, once.
func (w *Waiter) Await(logf func(format string, args ...any), format string, args ...any) {
	if now := fmt.Sprintf(format, args...); now != w.awaited {
		w.awaited = now
		logf("… %s", now)
	}
}

// Awaited returns what was awaited last, empty for nothing.
func (w *Waiter) Awaited() string { return w.awaited }

// Reset is called when nothing is awaited any more.
func (w *Waiter) Reset() { w.awaited = "" }

// Pause waits until it is time to observe again. The error is that of Ended.
func (w *Waiter) Pause(ctx context.Context, c clock.Clock, interval time.Duration) error {
	if Pause(ctx, c, interval) != nil {
		return w.Ended(ctx)
	}
	return nil
}

// Pause waits for some time. It returns the cause if the context ends before.
func Pause(ctx context.Context, c clock.Clock, interval time.Duration) error {
	if ctx.Err() != nil { // with both cases ready, select takes either
		return context.Cause(ctx)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.After(interval):
		return nil
	}
}

// Ended returns why the context ended, with what was awaited.
func (w *Waiter) Ended(ctx context.Context) error {
	if w.awaited == "" {
		return context.Cause(ctx)
	}
	return fmt.Errorf("waited for: %s: %w", w.awaited, context.Cause(ctx))
}
