// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

// The first pause after a failure, doubled up to the longest. By controller-runtime's
// own, which grow to 1000 s, a budget would be tightened or a cut ended a quarter of an
// hour after an outage of the API server.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = 15 * time.Second
)

// pauses are those of every controller here.
func pauses[T comparable]() workqueue.TypedRateLimiter[T] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[T](firstPause, longestPause)
}

// refused says whether the API server answered by an error, be it somebody's guard, a
// webhook that can't be reached, or a fault of its own. No answer is no refusal.
func refused(err error) bool {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	return answered
}
