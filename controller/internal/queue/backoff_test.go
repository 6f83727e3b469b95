// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"
	"time"
)

// TestBackoff checks what an outage of the API server means for a budget: a short one
// delays nothing, a long one at most 15 seconds after its end, and the next outage starts
// again with short waits.
func TestBackoff(t *testing.T) {
	t.Parallel()
	limiter := Backoff[string]()
	fail := func(outage time.Duration) (retries int, wait time.Duration) {
		for elapsed := time.Duration(0); elapsed <= outage; elapsed += wait {
			wait = limiter.When("budget")
			retries++
		}
		return retries, wait
	}
	if retries, wait := fail(time.Second); retries < 5 || wait > 2*time.Second {
		t.Errorf("an outage of a second: %d retries, the last after %s", retries, wait)
	}
	if _, wait := fail(8 * time.Hour); wait > 15*time.Second {
		t.Errorf("an outage of 8 hours: retried %s after its end", wait)
	}
	if wait := limiter.When("another budget"); wait > 100*time.Millisecond {
		t.Errorf("another budget waits %s", wait)
	}
	limiter.Forget("budget")
	if wait := limiter.When("budget"); wait > 100*time.Millisecond {
		t.Errorf("the first retry of the next outage waits %s", wait)
	}
}
