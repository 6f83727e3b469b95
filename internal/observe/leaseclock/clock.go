// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package leaseclock

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// clockSkew is how far apart the clocks of a node and of this process may be
// before a lease is misjudged at its first sight, and only there.
const clockSkew = 30 * time.Second

// Clock tells how long ago a lease was renewed, by this process's clock
// alone: the age is the time since the renewTime was seen to change, never a
// difference between two machines' clocks.
//
// A lease seen for the first time is the exception, since nobody here saw it
// change. It counts as renewed just now, unconfirmed, so that a restart tightens
// nothing; but if its renewTime is in the past by more than its limit and the
// tolerated skew, it counts as being as old as it says. Who loosens something
// on the word of a lease asks for Confirmed ages.
//
// The zero Clock is not usable: Clock must be set. It is safe for
// concurrent use.
type Clock struct {
	Clock clock.PassiveClock

	mu    sync.Mutex
	seen  map[types.NamespacedName]observation
	limit map[types.NamespacedName]time.Duration
}

// observation is the last change of a lease that was seen.
type observation struct {
	uid       types.UID
	renewTime time.Time
	holder    string
	// at is when the change was seen, by our clock.
	at time.Time
	// confirmed says that it was seen to change, not just to be there.
	confirmed bool
}

// Age is how old a lease is.
type Age struct {
	Age time.Duration
	// Confirmed is false while the age rests on the first sight alone: the
	// lease has not been seen to change, nor watched for as long as its limit.
	Confirmed bool
}

// Observe notes a lease that an informer delivered.
func (c *Clock) Observe(lease *coordinationv1.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(lease)
}

// Significant says whether the change of a lease matters to whoever judged it before:
// another holder, or a renewal after it had passed the limit that it was judged
// by. A heartbeat in time is no news.
func (c *Clock) Significant(before, after *coordinationv1.Lease) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, is := stateOf(before), stateOf(after)
	// Both times are of one node's clock, unless the member moved; then the
	// holder or the pod is news enough.
	gap := is.renewTime.Sub(was.renewTime)
	return was.uid != is.uid || was.holder != is.holder || gap < 0 || gap > c.limit[keyOf(after)]
}

// Age is the lease's age, judged by the limit beyond which the caller calls it stale.
func (c *Clock) Age(lease *coordinationv1.Lease, limit time.Duration) Age {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A cache is ahead of its event handlers: what is read may not have been
	// delivered to Observe yet.
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

// Forget drops a lease that was deleted.
func (c *Clock) Forget(lease *coordinationv1.Lease) {
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

// stateOf is what a lease says.
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
