// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package leaseclock

import "time"

// mostWatched bounds how many records a Clock remembers. Beyond it, those that are older than
// their limit are removed.
const mostWatched = 1000

// watchedRecord is a record of another process that was read.
type watchedRecord struct {
	first time.Time
	limit time.Duration
}

// Since returns how old a record is that another process wrote at a time by its own clock: the time
// since this process first read it. The other clock counts only where the record is older by it
// than the limit and clockSkew. So a clock that is ahead keeps no record alive for longer than the
// limit, and one that is behind by less than clockSkew makes none end early. key identifies the
// record.
func (c *Clock) Since(key string, written time.Time, limit time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Clock.Now()
	if reported := now.Sub(written); reported > limit+clockSkew {
		return reported
	}
	if r, known := c.records[key]; known {
		return now.Sub(r.first)
	}
	if len(c.records) >= mostWatched {
		for key, r := range c.records {
			// One that is read again after that is too old by its own time, unless that is in the future.
			if now.Sub(r.first) > r.limit+clockSkew {
				delete(c.records, key)
			}
		}
	}
	if c.records == nil {
		c.records = map[string]watchedRecord{}
	}
	c.records[key] = watchedRecord{first: now, limit: limit}
	return 0
}
