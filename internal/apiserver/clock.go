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

// tolerance is the difference of clocks that is ignored. HTTP dates have whole seconds.
const tolerance = 5 * time.Second

// Clock is a clock with the API server's time, for the validity of certificates and leases: a
// node or a laptop with a wrong clock must not create certificates for another year, or report
// a valid one as expired. The time comes from the dates of answers. Before the first answer it
// is the local time.
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

// LearnFrom returns a copy of config. The answers to its clients set the clock.
func (c *Clock) LearnFrom(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return RoundTripper(func(r *http.Request) (*http.Response, error) {
			sent := c.PassiveClock.Now()
			answer, err := next.RoundTrip(r)
			if err == nil {
				c.learn(answer.Header.Get("Date"), sent)
			}
			return answer, err
		})
	})
	return config
}

// learn sets the clock to the date of an answer to a request that was sent at that local time.
// The date of a slow answer is too imprecise and is ignored.
func (c *Clock) learn(date string, sent time.Time) {
	theirs, err := http.ParseTime(date)
	now := c.PassiveClock.Now()
	if err != nil || now.Sub(sent) >= tolerance {
		return
	}
	ahead := theirs.Sub(now)
	if ahead.Abs() < tolerance {
		ahead = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}
