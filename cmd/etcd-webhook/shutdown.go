// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"
)

const (
	// reviewGrace is for how long reviews are still answered after a signal to stop. API
	// servers send them until they know that the pod is no longer an endpoint, and a review
	// without an answer admits a member without changes.
	reviewGrace = 10 * time.Second

	// shutdownLimit is how long the requests in progress may take after that, and the
	// reconcilers after the signal. Together both are shorter than the pod's grace period.
	shutdownLimit = 15 * time.Second
)

// withDelayedCancel returns a context that ends after ctx, with a delay.
func withDelayedCancel(ctx context.Context, delay time.Duration) context.Context {
	delayed, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return delayed
}
