// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// clocksDiffer is from when on a difference counts. HTTP dates have whole seconds.
const clocksDiffer = 5 * time.Second

// serverClock is the API server's time: it is who trusts a certificate or doesn't,
// and a laptop's clock may be wrong by more than a certificate has left. It is learned
// from the dates of answers; before the first one it is the local time.
type serverClock struct {
	clock.PassiveClock
	mu    sync.Mutex
	ahead time.Duration // of the local time
}

// Now implements clock.PassiveClock.
func (c *serverClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.PassiveClock.Now().Add(c.ahead)
}

// Since implements clock.PassiveClock.
func (c *serverClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// listen returns a configuration from whose answers the time is learned.
func (c *serverClock) listen(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &dated{next: next, clock: c} })
	return config
}

// learn takes the date of an answer to what was asked at that local time. One that
// was long under way says little.
func (c *serverClock) learn(date string, asked time.Time) {
	theirs, err := http.ParseTime(date)
	now := c.PassiveClock.Now()
	if err != nil || now.Sub(asked) >= clocksDiffer {
		return
	}
	ahead := theirs.Sub(now)
	if ahead.Abs() < clocksDiffer {
		ahead = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

// dated is a connection that tells a clock the dates of answers.
type dated struct {
	next  http.RoundTripper
	clock *serverClock
}

// RoundTrip implements http.RoundTripper.
func (d *dated) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := d.clock.PassiveClock.Now()
	answer, err := d.next.RoundTrip(r)
	if err == nil {
		d.clock.learn(answer.Header.Get("Date"), asked)
	}
	return answer, err
}
