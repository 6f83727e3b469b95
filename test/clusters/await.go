// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"time"
)

const (
	// lookEvery is how often a condition is inspected while it is awaited.
	lookEvery = time.Second
	// readyLimit is what a cluster of any flavour gets to become Ready. A druid
	// cluster of three needs two minutes on an idle machine, most of it spent in
	// etcd-backup-restore's own time-outs; tests run several beside each other.
	readyLimit = 15 * time.Minute
	// goneLimit is what a cluster and its volumes get to disappear.
	goneLimit = 10 * time.Minute
)

// Look looks once at what is awaited. It returns what it saw, for the person who
// reads why a wait ended, and whether the wait is over. An error doesn't end the
// wait, since API servers and members are restarted on purpose; it counts as
// what was seen.
type Look func(ctx context.Context) (seen string, done bool, err error)

// Await looks every second until what is awaited has come, and returns nil then.
// After the limit, or when ctx ends, the error reports what was seen last.
func Await(ctx context.Context, limit time.Duration, what string, look Look) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	last := "nothing"
	for {
		seen, done, err := look(ctx)
		switch {
		case err == nil && done:
			return nil
		case ctx.Err() != nil:
			// After the timeout, a look only reports the timeout.
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
