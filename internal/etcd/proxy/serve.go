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

// Serve relays connections until the context ends and the endpoints are closed. It returns at once, and what it returns
// awaits all of them.
func (p *Proxy) Serve(ctx context.Context) *sync.WaitGroup {
	var served sync.WaitGroup
	for _, endpoint := range p.Endpoints {
		served.Go(func() {
			for {
				client, err := endpoint.socket.Accept()
				if err != nil {
					return // the listener is closed
				}
				served.Go(func() {
					p.Members.Relay(ctx, client, p.roundRobin(endpoint), p.Passthrough, p.markFailed)
				})
			}
		})
	}
	return &served
}

// roundRobin returns the pods to try for the next connection. It rotates the pods, and moves those
// that failed recently to the end.
func (p *Proxy) roundRobin(endpoint *Endpoint) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := endpoint.next % len(endpoint.Pods)
	endpoint.next++
	pods := slices.Concat(endpoint.Pods[first:], endpoint.Pods[:first])
	now := p.Clock.Now()
	failed := func(pod string) int {
		if now.Sub(p.failedAt[pod]) < backoff {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(pods, func(a, b string) int { return cmp.Compare(failed(a), failed(b)) })
	return pods
}

func (p *Proxy) markFailed(pod string, err error) {
	p.mu.Lock()
	p.failedAt[pod] = p.Clock.Now()
	p.mu.Unlock()
	p.Warn(pod, err)
}
