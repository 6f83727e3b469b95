// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// far is from when on a difference of clocks counts. HTTP dates have whole seconds.
const far = 5 * time.Second

// Clock is the API server's time, by which certificates and leases are judged: a node
// or a laptop whose own clock is wrong must not make certificates for another year, nor
// call a good one expired. It is learned from the dates of answers; before the first
// one it is the local time.
type Clock struct {
	clock.PassiveClock // the local one
	mu                 sync.Mutex
	ahead              time.Duration // of the local time
}

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.PassiveClock.Now().Add(c.ahead)
}

// Since implements clock.PassiveClock.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Listen returns a configuration from whose clients' answers the time is learned.
func (c *Clock) Listen(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return RoundTripper(func(r *http.Request) (*http.Response, error) {
			asked := c.PassiveClock.Now()
			answer, err := next.RoundTrip(r)
			if err == nil {
				c.learn(answer.Header.Get("Date"), asked)
			}
			return answer, err
		})
	})
	return config
}

// learn takes the date of an answer to what was asked at that local time. An answer
// that took long says little and is passed over.
func (c *Clock) learn(date string, asked time.Time) {
	theirs, err := http.ParseTime(date)
	now := c.PassiveClock.Now()
	if err != nil || now.Sub(asked) >= far {
		return
	}
	ahead := theirs.Sub(now)
	if ahead.Abs() < far {
		ahead = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}
