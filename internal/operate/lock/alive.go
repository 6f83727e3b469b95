// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// A process that only reads, once, judges a holder by the time that the lease has of its last renewal. The clocks of
// the two machines may differ, so that this proves nothing: only AwaitFree does. How much they may differ depends on
// what a wrong answer causes.
//
//   - A live holder that is shown as dead causes a command that continues its operation, and that command is refused
//     when it takes the lock. A dead holder that is shown as alive makes a user wait for nothing. So the limit is short.
//   - A live holder that counts as dead for a removal loses the objects of its operation, of which only the lock itself
//     is watched before it is deleted. A dead holder that counts as alive delays the removal. So the limit is long.
const (
	// shownAlive is after how long without a renewal a holder is shown as dead.
	shownAlive = time.Minute
	// mayBeAlive is after how long without a renewal the objects of a holder's operation may be removed.
	mayBeAlive = 10 * time.Minute

	// A live holder is never shown as dead while the clocks agree, and what may be removed is never shown as under way.
	// The compiler checks both: a negative constant is no uint.
	_ = uint(shownAlive - LeaseDuration)
	_ = uint(mayBeAlive - shownAlive)
)

// SeemsAlive reports whether the holder of a lock is shown as alive. It returns false for no holder. A "no" permits
// nothing.
func (h Holder) SeemsAlive(now time.Time) bool { return h.renewedWithin(shownAlive, now) }

// MayBeHeld reports whether a lease may have a live holder. It returns false if what the holder's operation has left
// may be removed.
func MayBeHeld(lease *coordinationv1.Lease, now time.Time) bool {
	return holderOf(lease).renewedWithin(mayBeAlive, now)
}

// renewedWithin reports whether there is a holder that renewed its lock less than limit ago, by the clock of this
// machine.
func (h Holder) renewedWithin(limit time.Duration, now time.Time) bool {
	return h.Identity != "" && now.Sub(h.Renewed) < limit
}
