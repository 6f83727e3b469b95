// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package leaseclock measures the age of leases by this process's own clock.
package leaseclock

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// clockSkew is how much the clocks of a node and of this process may differ before the age of a
// lease that is read for the first time is wrong.
const clockSkew = 30 * time.Second

// Clock knows how long ago leases were renewed. It uses only this process's clock: the age is the
// time since a change of renewTime was observed, and not a difference between two machines' clocks.
//
// The exception is a lease that is observed for the first time. Its age is zero and unconfirmed, so
// that a restart of this process tightens nothing. But where renewTime is in the past by more than
// the limit and clockSkew, renewTime decides. To loosen a budget, require a Confirmed age.
//
// The zero Clock is not usable: Clock must be set. It is safe for
// concurrent use.
type Clock struct {
	Clock clock.PassiveClock

	mu    sync.Mutex
	seen  map[types.NamespacedName]observation
	limit map[types.NamespacedName]time.Duration
	// records are those that Since was asked about.
	records map[string]watchedRecord
}

// observation is the last change of a lease that was observed.
type observation struct {
	uid       types.UID
	renewTime time.Time
	holder    string
	// at is when the change was observed, by our clock.
	at time.Time
	// confirmed is true where a change was observed, and not only the lease.
	confirmed bool
}

// Age is how old a lease is.
type Age struct {
	Age time.Duration
	// Confirmed is false while no change of the lease was observed, and it has not been observed
	// for as long as its limit.
	Confirmed bool
}

// Observe records a lease that an informer delivered.
func (c *Clock) Observe(lease *coordinationv1.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(lease)
}

// Significant reports whether a change of a lease matters to a caller of Age: the lease has another
// holder, or it was renewed after it had passed the limit. A renewal in time isn't significant.
func (c *Clock) Significant(before, after *coordinationv1.Lease) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, is := stateOf(before), stateOf(after)
	// Both times are by one node's clock, unless the member moved. Then the holder or the pod
	// has changed too.
	gap := is.renewTime.Sub(was.renewTime)
	return was.uid != is.uid || was.holder != is.holder || gap < 0 || gap > c.limit[keyOf(after)]
}

// Age returns the age of a lease. The limit is the age beyond which the caller considers it stale.
func (c *Clock) Age(lease *coordinationv1.Lease, limit time.Duration) Age {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A cache is ahead of its event handlers: Observe may not have received this lease yet.
	s := c.record(lease)
	if c.limit == nil {
		c.limit = map[types.NamespacedName]time.Duration{}
	}
	c.limit[keyOf(lease)] = limit
	now := c.Clock.Now()
	watched := now.Sub(s.at)
	if s.confirmed {
		return Age{Age: watched, Confirmed: true}
	}
	if reported := now.Sub(s.renewTime); reported > limit+clockSkew {
		return Age{Age: reported, Confirmed: true}
	}
	return Age{Age: watched, Confirmed: watched > limit}
}

// Remove removes a lease that was deleted.
func (c *Clock) Remove(lease *coordinationv1.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, keyOf(lease))
	delete(c.limit, keyOf(lease))
}

func (c *Clock) record(lease *coordinationv1.Lease) observation {
	key, next := keyOf(lease), stateOf(lease)
	last, known := c.seen[key]
	known = known && last.uid == next.uid
	if known && last.renewTime.Equal(next.renewTime) {
		return last
	}
	next.at, next.confirmed = c.Clock.Now(), known
	if c.seen == nil {
		c.seen = map[types.NamespacedName]observation{}
	}
	c.seen[key] = next
	return next
}

// stateOf returns the observation of a lease, without its time.
func stateOf(lease *coordinationv1.Lease) observation {
	s := observation{uid: lease.UID}
	if t := lease.Spec.RenewTime; t != nil {
		s.renewTime = t.Time
	}
	if h := lease.Spec.HolderIdentity; h != nil {
		s.holder = *h
	}
	return s
}

func keyOf(lease *coordinationv1.Lease) types.NamespacedName {
	return types.NamespacedName{Namespace: lease.Namespace, Name: lease.Name}
}
