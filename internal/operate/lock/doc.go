// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package lock gives one operation at a time the right to change a cluster. The lock is
// a Lease in the cluster's namespace, which its holder renews in the background.
//
// # Clocks
//
// Timestamps of two machines are never compared to take a lock. Only SeemsAlive and
// MayBeHeld compare them. A process that wants a lock that another holds watches the Lease for as long as it lasts, by its own clock: a Lease
// that wasn't renewed in that time has a dead holder, and the lock changes hands. So
// clocks may differ by any amount, but they must run at about the same rate: the holder
// stops itself RenewDeadline after its last successful renewal, and another takes the
// lock LeaseDuration after that renewal at the earliest. The difference is how much
// slower the holder's clock may run. A machine that was suspended finds out at the next
// call of StillHeld, which also compares wall clocks, since the monotonic clock stops
// during sleep.
//
// # No fencing
//
// Neither the API server nor etcd checks the lock when it takes a write. An operation
// calls StillHeld right before each write, but a request that was sent before the lock
// was lost can arrive after another process has acquired it. So each write also states
// what it expects to find (a resource version, a UID, a member ID), and fails where
// another operation has changed that. A write without such a precondition must be
// harmless when it is done twice or late.
//
// A process that is interrupted keeps its lock until it has called Release, so that it
// can clean up under it.
package lock
