// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// clocks holds the times that the budget rule waits for.
type clocks struct {
	now   time.Time
	state State
	// backupFailing is true if BackupReady is False, and during the grace if it is Unknown
	// after False.
	backupFailing bool
	// deadlines are the times at which the verdict may change although no fact does.
	deadlines []time.Time
}

// TakeOver returns the state of a budget that takes over what another one keeps. Clocks that don't run yet continue
// those of the other. higher reports whether the number of the other is the higher one, which is then in force: since
// when less is due is known from that one alone.
func (s State) TakeOver(other State, higher bool) State {
	if higher || s.LooserSince.IsZero() {
		s.LooserSince = other.LooserSince
	}
	if s.HoldSince.IsZero() {
		s.HoldSince, s.BackupTrueSince = other.HoldSince, other.BackupTrueSince
	}
	if s.BackupUnknownSince.IsZero() {
		s.BackupUnknownSince = other.BackupUnknownSince
	}
	if s.StaleSince.IsZero() {
		s.StaleSince = other.StaleSince
	}
	return s
}

// runClocks returns the clocks with the state updated to the time of the facts.
func runClocks(f Facts, s Settings) *clocks {
	c := &clocks{now: f.Now, state: f.State}
	for _, since := range []*time.Time{
		&c.state.LooserSince, &c.state.HoldSince, &c.state.BackupTrueSince,
		&c.state.BackupUnknownSince, &c.state.StaleSince,
	} {
		// A replica with another clock may have written a future time. The wait must not
		// be longer than it would be from now.
		if since.After(c.now) {
			*since = c.now
		}
	}
	c.runWhile(&c.state.StaleSince, f.Cluster.Stale)
	c.backup(f.Cluster.BackupReady.Value(), s)
	return c
}

// runWhile starts a clock if on is true and it isn't running, and stops it if on is false.
func (c *clocks) runWhile(since *time.Time, on bool) {
	if !on {
		*since = time.Time{}
	} else if since.IsZero() {
		*since = c.now
	}
}

// within reports whether less than limit has passed since then. If so, it adds a deadline.
func (c *clocks) within(since time.Time, limit time.Duration) bool {
	end := since.Add(limit)
	if !end.After(c.now) {
		return false
	}
	c.deadlines = append(c.deadlines, end)
	return true
}

// backup updates the clocks of backups. A hold is remembered until backups have succeeded for
// Settle, so that a condition that changes often can't begin a new hold each time.
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

// settle returns the minAvailable to write now. A stricter value is written at once. So is a
// looser value that frees no Ready pod. Any other is written after it has been due for Settle. The
// wait runs during the last part of a hold, so that the hold ends on time.
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

// next returns the time until the first deadline, zero if there is none.
func (c *clocks) next(now time.Time) time.Duration {
	var next time.Duration
	for _, d := range c.deadlines {
		if in := d.Sub(now); next == 0 || in < next {
			next = in
		}
	}
	return next
}
