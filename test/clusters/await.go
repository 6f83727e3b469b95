// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"time"
)

const (
	// pollInterval is the interval between two checks of a condition.
	pollInterval = time.Second
	// readyLimit is the time in which a cluster of any flavour must become Ready. A druid
	// cluster of three members needs two minutes on an idle machine, mostly because of
	// etcd-backup-restore's own timeouts. Tests run several clusters beside each other.
	readyLimit = 15 * time.Minute
	// goneLimit is the time in which a cluster and its volumes must be deleted.
	goneLimit = 10 * time.Minute
)

// ConditionFunc checks a condition once. It returns what it observed, for the error of a wait that timed
// out, and whether the condition is true. An error doesn't end the wait, because tests restart
// API servers and members on purpose. The error counts as the observed state.
type ConditionFunc func(ctx context.Context) (seen string, done bool, err error)

// Await checks the condition every second until it is true, and then returns nil. After the
// limit, or when ctx ends, the error contains the last observed state.
func Await(ctx context.Context, limit time.Duration, what string, condition ConditionFunc) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	last := "nothing"
	for {
		seen, done, err := condition(ctx)
		switch {
		case err == nil && done:
			return nil
		case ctx.Err() != nil:
			// After the timeout, a check only returns the timeout.
			return fmt.Errorf("wait for %s: %w; last seen: %s", what, context.Cause(ctx), last)
		case err != nil:
			last = err.Error()
		default:
			last = seen
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last seen: %s", what, context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
