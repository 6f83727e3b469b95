// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

// The wait after the first failure is doubled with each further one, up to the longest.
// With controller-runtime's default of up to 1000 s, a budget would be tightened or a cut
// ended a quarter of an hour after an outage of the API server.
const (
	firstBackoff   = 5 * time.Millisecond
	longestBackoff = 15 * time.Second
)

// Backoff returns the rate limiter of every controller of this project.
func Backoff[T comparable]() workqueue.TypedRateLimiter[T] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[T](firstBackoff, longestBackoff)
}
