// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Findings holds what the Budget controller found last of each cluster's budget, for
// other controllers. A new leader starts with none. The zero value is ready; it is safe
// for concurrent use.
type Findings struct {
	keyed[owner.Key, v1alpha1.Finding]

	once    sync.Once
	changes chan event.GenericEvent
}

// set replaces the finding on a cluster's budget, and sends an event to the channel of changed for
// another verdict or reason.
func (f *Findings) set(key owner.Key, finding v1alpha1.Finding) {
	before, _ := f.swap(key, finding)
	if before.Verdict == finding.Verdict && before.Reason == finding.Reason {
		return
	}
	select {
	case f.changed() <- event.GenericEvent{}:
	default: // a change that was not received yet
	}
}

// changed returns the channel that has an event after a finding has changed.
func (f *Findings) changed() chan event.GenericEvent {
	f.once.Do(func() { f.changes = make(chan event.GenericEvent, 1) })
	return f.changes
}

// announcements holds which notes were announced for each cluster, so that each is
// announced once for as long as it holds.
type announcements struct {
	keyed[owner.Key, []string]
}

// fresh returns the notes that were not among those of the last call for key. Two notes are
// the same if identify returns the same for them.
func (a *announcements) fresh(key owner.Key, notes []policy.Note, identify func(policy.Note) string) []policy.Note {
	var ids []string
	for _, n := range notes {
		ids = append(ids, identify(n))
	}
	before, _ := a.swap(key, ids)
	var out []policy.Note
	for i, n := range notes {
		if !slices.Contains(before, ids[i]) && !slices.Contains(ids[:i], ids[i]) {
			out = append(out, n)
		}
	}
	return out
}

// One reset of a budget comes from an operator that wrote while admission was unavailable.
// maxConflicts resets within the conflictWindow come from a client that doesn't stop.
const (
	maxConflicts   = 3
	conflictWindow = 10 * time.Minute
)

// conflicts holds when another client loosened a cluster's budget without passing admission.
type conflicts struct {
	keyed[owner.Key, []time.Time]
}

func (c *conflicts) record(key owner.Key, now time.Time) {
	c.update(key, func(resets []time.Time) []time.Time { return append(resets, now) })
}

// backoff returns how long not to write the budget because there were too many resets
// of it, or 0.
func (c *conflicts) backoff(key owner.Key, now time.Time) time.Duration {
	if _, any := c.get(key); !any {
		return 0
	}
	recent := c.update(key, func(resets []time.Time) []time.Time {
		return slices.DeleteFunc(resets, func(t time.Time) bool { return now.Sub(t) > conflictWindow })
	})
	if n := len(recent); n >= maxConflicts {
		return recent[n-maxConflicts].Add(conflictWindow).Sub(now) + time.Second
	}
	return 0
}

// tightenRetry is how long a refused write waits that makes a budget stricter. Others wait
// longer with each refusal.
const tightenRetry = 5 * time.Second

// denials counts refused writes in a row.
type denials[K comparable] struct {
	keyed[K, int]
}

// next counts one more refusal and returns how long to wait before the next write: 5 s,
// doubled up to 80 s.
func (d *denials[K]) next(key K) time.Duration {
	n := d.update(key, func(n int) int { return n + 1 })
	return 5 * time.Second << min(n-1, 4)
}
