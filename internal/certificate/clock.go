// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// far is from when on a difference of clocks counts. HTTP dates have whole seconds.
const far = 5 * time.Second

// theirClock is the API server's time, which is the one by which certificates
// are judged: a node whose clock is wrong must not make certificates for
// everybody that are valid in another year. It is learned from the dates of
// answers; before the first one it is the local time.
type theirClock struct {
	clock.PassiveClock
	mu    sync.Mutex
	ahead time.Duration // of the local clock's time
}

// Now implements clock.PassiveClock.
func (c *theirClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.PassiveClock.Now().Add(c.ahead)
}

// listen makes the clock learn from every answer to clients of this configuration.
func (c *theirClock) listen(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
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

// learn takes the date of an answer to what was asked at that local time. An
// answer that took long says little and is passed over.
func (c *theirClock) learn(date string, asked time.Time) {
	theirs, err := http.ParseTime(date)
	if now := c.PassiveClock.Now(); err == nil && now.Sub(asked) < far {
		ahead := theirs.Sub(now)
		if ahead.Abs() < far {
			ahead = 0
		}
		c.mu.Lock()
		c.ahead = ahead
		c.mu.Unlock()
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
