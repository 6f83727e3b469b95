// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	memory.Keyed[owner.Key, conflict]
}

// conflict is what is remembered of one budget that was reset.
type conflict struct {
	resets []time.Time
	// selector is the one that was written last, nil for none.
	selector *metav1.LabelSelector
	// written are the facts by which the budget was written last.
	written severity
}

// severity is what the value of a budget depends on. The value alone doesn't show that facts got worse: of
// three members, two must remain while all are ready, and while one is down.
type severity struct {
	due, readyVoters, readyPods int
}

// worseThan reports whether the facts are worse than others: more is due, or less is ready. A member that becomes
// ready is no reason to write, and neither is one that was unready at the last write.
func (s severity) worseThan(o severity) bool {
	return s.due > o.due || s.readyVoters < o.readyVoters || s.readyPods < o.readyPods
}

// severity returns that of the facts of this reconciliation.
func (c *cluster) severity() severity {
	s := severity{due: c.verdict.Target, readyVoters: c.facts.Cluster.ReadyVoters()}
	for _, m := range c.facts.Cluster.Members {
		if m.PodReady {
			s.readyPods++
		}
	}
	return s
}

// worseThan reports whether the budget that remains is to be tightened although another client resets it again and
// again: the facts are worse than those of the last write, or more is due than was set. What got worse is written once,
// so the backoff ends.
func (c *cluster) worseThan(written severity) bool {
	kept := c.facts.Budgets.Managed
	if c.verdict.Target <= kept.Value.Min(c.facts.Replicas) {
		return false
	}
	set := kept.Record.Value
	return c.severity().worseThan(written) || set != nil && c.verdict.Target > set.Min(c.facts.Replicas)
}

// wrote remembers the facts by which a budget was written, and the reset that was corrected so, if it was reset.
func (c *conflicts) wrote(key owner.Key, by severity, wasReset bool, now time.Time) {
	if _, any := c.Get(key); !any && !wasReset {
		return
	}
	c.Update(key, func(old conflict) conflict {
		old.written = by
		if wasReset {
			old.resets = append(old.resets, now)
		}
		return old
	})
}

// wroteSelector remembers that the selector of a budget was written. If it had been written before, another client has
// changed it since, and else workloads have joined or left.
func (c *conflicts) wroteSelector(key owner.Key, selector *metav1.LabelSelector, by severity, now time.Time) {
	last, any := c.Get(key)
	c.wrote(key, by, !any || equality.Semantic.DeepEqual(last.selector, selector), now)
	c.Update(key, func(old conflict) conflict {
		old.selector = selector
		return old
	})
}

// backoff returns how long not to write the budget because there were too many resets of it, or 0, and the facts
// by which it was written last.
func (c *conflicts) backoff(key owner.Key, now time.Time) (wait time.Duration, written severity) {
	if _, any := c.Get(key); !any {
		return 0, severity{}
	}
	recent := c.Update(key, func(old conflict) conflict {
		old.resets = slices.DeleteFunc(old.resets, func(t time.Time) bool { return now.Sub(t) > conflictWindow })
		return old
	})
	if n := len(recent.resets); n >= maxConflicts {
		wait = recent.resets[n-maxConflicts].Add(conflictWindow).Sub(now) + time.Second
	}
	return wait, recent.written
}
