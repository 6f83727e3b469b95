// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"
)

const (
	// answersOn is for how long reviews are answered after the program was told to end.
	// They come until every API server has heard that its pod is no endpoint any more,
	// and an answer that doesn't come lets a member pass unreviewed.
	answersOn = 10 * time.Second

	// shutdownLimit is what the requests in hand get to end after that, and the
	// reconcilers at once. Both together are shorter than the pod's grace period.
	shutdownLimit = 15 * time.Second
)

// outlive is a context that ends so long after the one that it was made of.
func outlive(ctx context.Context, by time.Duration) context.Context {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(by, end) })
	return later
}
