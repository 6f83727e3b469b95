// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// clocks are the times that the budget rule waits for.
type clocks struct {
	now   time.Time
	state State
	// backupFailing is what BackupReady comes to: False, or Unknown after
	// False for as long as the grace lasts.
	backupFailing bool
	// deadlines are when the verdict may change by itself.
	deadlines []time.Time
}

// runClocks brings the state up to now.
func runClocks(f Facts, s Settings) *clocks {
	c := &clocks{now: f.Now, state: f.State}
	for _, since := range []*time.Time{
		&c.state.LooserSince, &c.state.HoldSince, &c.state.BackupTrueSince,
		&c.state.BackupUnknownSince, &c.state.StaleSince,
	} {
		// Whoever wrote a time to come had another clock; it must not make
		// the wait longer than it would be from now.
		if since.After(c.now) {
			*since = c.now
		}
	}
	c.runWhile(&c.state.StaleSince, f.Cluster.Stale)
	c.backup(f.Cluster.BackupReady.Value(), s)
	return c
}

// runWhile starts a clock that should runWhile and stops one that should not.
func (c *clocks) runWhile(since *time.Time, on bool) {
	if !on {
		*since = time.Time{}
	} else if since.IsZero() {
		*since = c.now
	}
}

// within says that less than limit has passed since.
func (c *clocks) within(since time.Time, limit time.Duration) bool {
	end := since.Add(limit)
	if !end.After(c.now) {
		return false
	}
	c.deadlines = append(c.deadlines, end)
	return true
}

// backup follows BackupReady. A hold is remembered until backups have been well
// for Settle, so that a flapping condition can't begin a new one each time.
func (c *clocks) backup(status policy.Status, s Settings) {
	held := !c.state.HoldSince.IsZero()
	c.runWhile(&c.state.BackupTrueSince, held && status == policy.True)
	c.runWhile(&c.state.BackupUnknownSince, status == policy.Unknown)
	switch status {
	case policy.Absent:
	case policy.True:
		if held && !c.within(c.state.BackupTrueSince, s.Settle) {
			c.state.HoldSince, c.state.BackupTrueSince = time.Time{}, time.Time{}
		}
	case policy.False:
		c.runWhile(&c.state.HoldSince, true)
		c.backupFailing = true
	case policy.Unknown:
		c.backupFailing = c.within(c.state.BackupUnknownSince, BackupUnknownGrace) && held
	}
}

// settle is the minAvailable to write now: a tighter value at once, a looser
// one at once where it frees no ready pod, else when it has been due for Settle.
// The wait runs during the last part of a hold already, so that a hold ends
// when it says.
func (c *clocks) settle(f Facts, s Settings, t counts, r row) int {
	current, target := f.Current, r.target
	if f.Hold && target < current {
		c.state.LooserSince = time.Time{}
		return current
	}
	if target >= current || target >= t.healthy() {
		ending := !r.ends.IsZero() && r.after < target && !c.within(r.ends, -s.Settle)
		c.runWhile(&c.state.LooserSince, ending)
		return target
	}
	c.runWhile(&c.state.LooserSince, true)
	if c.within(c.state.LooserSince, s.Settle) {
		return current
	}
	c.state.LooserSince = time.Time{}
	return target
}

// next is how long until the first deadline, zero where there is none.
func (c *clocks) next(now time.Time) time.Duration {
	var next time.Duration
	for _, d := range c.deadlines {
		if in := d.Sub(now); next == 0 || in < next {
			next = in
		}
	}
	return next
}
