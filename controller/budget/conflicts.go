// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// One reset of a budget comes from an operator that wrote while admission was unavailable.
// maxConflicts resets within the conflictWindow come from a client that doesn't stop.
const (
	maxConflicts   = 3
	conflictWindow = 10 * time.Minute
)

// conflicts holds when another client loosened a cluster's budget without passing admission.
type conflicts struct {
	memory.Keyed[owner.Key, []time.Time]
}

func (c *conflicts) record(key owner.Key, now time.Time) {
	c.Update(key, func(resets []time.Time) []time.Time { return append(resets, now) })
}

// backoff returns how long not to write the budget because there were too many resets
// of it, or 0.
func (c *conflicts) backoff(key owner.Key, now time.Time) time.Duration {
	if _, any := c.Get(key); !any {
		return 0
	}
	recent := c.Update(key, func(resets []time.Time) []time.Time {
		return slices.DeleteFunc(resets, func(t time.Time) bool { return now.Sub(t) > conflictWindow })
	})
	if n := len(recent); n >= maxConflicts {
		return recent[n-maxConflicts].Add(conflictWindow).Sub(now) + time.Second
	}
	return 0
}
