// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package leaseclock

import (
	"fmt"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
)

// TestSince reads records that clocks wrote which differ from this one.
func TestSince(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	for _, row := range []struct {
		name    string
		written time.Duration // after the start, by the writer's clock
		at      []time.Duration
		want    []time.Duration
	}{
		{"clocks are alike", 0, []time.Duration{0, 59 * time.Second, time.Minute}, []time.Duration{0, 59 * time.Second, time.Minute}},
		{"the writer's is behind", -80 * time.Second, []time.Duration{0, 5 * time.Second}, []time.Duration{0, 5 * time.Second}},
		{"the writer's is behind by too much", -2 * time.Minute, []time.Duration{0}, []time.Duration{2 * time.Minute}},
		{"the writer's is ahead by a year", 365 * 24 * time.Hour, []time.Duration{0, 30 * time.Second, time.Minute, time.Hour}, []time.Duration{0, 30 * time.Second, time.Minute, time.Hour}},
		{"it is first read later", 0, []time.Duration{40 * time.Second, 50 * time.Second, 2 * time.Minute}, []time.Duration{0, 10 * time.Second, 2 * time.Minute}},
	} {
		now := testclock.NewFakePassiveClock(start)
		c := &Clock{Clock: now}
		for i, at := range row.at {
			now.SetTime(start.Add(at))
			if got := c.Since("a", start.Add(row.written), limit); got != row.want[i] {
				t.Errorf("%s: %s after %s, want %s", row.name, got, at, row.want[i])
			}
		}
	}
}

// TestSinceRemoves holds that records of the past take no memory.
func TestSinceRemoves(t *testing.T) {
	t.Parallel()
	now := testclock.NewFakePassiveClock(start)
	c := &Clock{Clock: now}
	for i := range 10 * mostWatched {
		now.SetTime(start.Add(time.Duration(i) * time.Second))
		c.Since(fmt.Sprint(i), now.Now(), time.Minute)
	}
	if n := len(c.records); n > mostWatched {
		t.Errorf("remembers %d records", n)
	}
}
