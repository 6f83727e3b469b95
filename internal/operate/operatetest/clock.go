// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package operatetest has what tests of several operations share.
package operatetest

import (
	"time"

	"k8s.io/utils/clock"
)

// HastyClock is a clock on which every wait ends at once, and the time has passed.
// It is for one goroutine.
type HastyClock struct {
	clock.Clock

	Time time.Time
}

// Now returns the time that has passed by waiting.
func (c *HastyClock) Now() time.Time { return c.Time }

// Since returns how much later than t it is.
func (c *HastyClock) Since(t time.Time) time.Duration { return c.Time.Sub(t) }

// After adds d to the time and returns a channel that has it.
func (c *HastyClock) After(d time.Duration) <-chan time.Time {
	c.Time = c.Time.Add(d)
	passed := make(chan time.Time, 1)
	passed <- c.Time
	return passed
}
