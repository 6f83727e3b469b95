// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// backoff is the time for which a member that could not be reached is tried last.
const backoff = 10 * time.Second

// serve relays connections until the context ends.
func (l *listeners) serve(ctx context.Context) *sync.WaitGroup {
	var served sync.WaitGroup
	for _, endpoint := range l.all {
		served.Go(func() {
			for {
				client, err := endpoint.socket.Accept()
				if err != nil {
					return // the listener is closed
				}
				served.Go(func() {
					l.members.Relay(ctx, client, l.roundRobin(endpoint), l.passthrough, l.markFailed)
				})
			}
		})
	}
	return &served
}

// roundRobin returns the pods to try for the next connection. It rotates the pods, and moves those
// that failed recently to the end.
func (l *listeners) roundRobin(endpoint *listener) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := endpoint.next % len(endpoint.pods)
	endpoint.next++
	pods := slices.Concat(endpoint.pods[first:], endpoint.pods[:first])
	now := l.clock.Now()
	failed := func(pod string) int {
		if now.Sub(l.failedAt[pod]) < backoff {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(pods, func(a, b string) int { return cmp.Compare(failed(a), failed(b)) })
	return pods
}

func (l *listeners) markFailed(pod string, err error) {
	l.mu.Lock()
	l.failedAt[pod] = l.clock.Now()
	l.mu.Unlock()
	l.warn(pod, err)
}
