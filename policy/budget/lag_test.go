// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// lag is one member that is something else than the rule knows.
type lag struct {
	what           string
	truth, seen    int
	controllerLags bool // the disruption controller does not know it either
	guarded        bool // the eviction rule is asked, too
}

// lags are the ways in which facts can be one step old while a member or a pod
// goes down.
var lags = []lag{
	{what: "member died, its pod still Ready, its lease still fresh", truth: podOnlyV, seen: wellV},
	{what: "pod just unready, member alive", truth: memberOnlyV, seen: wellV},
	{what: "the same, and the disruption controller has not seen it", truth: memberOnlyV, seen: wellV, controllerLags: true},
	{what: "member and pod just down", truth: downV, seen: wellV},
	{what: "the same, and the disruption controller has not seen it", truth: downV, seen: wellV, controllerLags: true},
	{what: "member died, its pod known to be unready", truth: downV, seen: memberOnlyV},
	{what: "pod just unready, its member known to be down", truth: downV, seen: podOnlyV},
	{what: "the same, and the disruption controller has not seen it", truth: downV, seen: podOnlyV, controllerLags: true},
	{what: "pod Ready again, its member still down", truth: podOnlyV, seen: downV},
	{what: "learner has a vote now, its pod unready", truth: memberOnlyV, seen: memberOnlyL},
}

// recoveries are the other direction: better than known.
var recoveries = []lag{
	{what: "member and pod back", truth: wellV, seen: downV},
	{what: "member back, its pod known to be Ready", truth: wellV, seen: podOnlyV},
	{what: "pod back, its member known to be ready", truth: wellV, seen: memberOnlyV},
	{what: "member back, its pod unready", truth: memberOnlyV, seen: downV},
	{what: "learner with a Ready pod has a vote now", truth: wellV, seen: wellL},
}

// loses decides on what is seen, and reports whether that can cost the quorum
// that truly is there.
func (l lag) loses(truth members) (had, lost bool) {
	if truth[l.truth] == 0 || !truth.hasQuorum(truth.voters()) {
		return false, false
	}
	seen := truth
	seen[l.truth]--
	seen[l.seen]++
	v := Evaluate(Facts{Cluster: policytest.ClusterOf(seen.String()), Current: -1, Now: start}, settings)
	b := newBudget(truth, 0, v.MinAvailable)
	if l.controllerLags {
		old := newBudget(seen, 0, v.MinAvailable)
		b.currentHealthy, b.allowed = old.currentHealthy, old.allowed
	}
	if l.guarded {
		b.guard = &guard{lag: l, size: truth.size()}
	}
	_, lost = b.losesQuorum(truth.voters())
	return true, lost
}

// count goes through all clusters of a size, with learners or without.
func (l lag) count(size int, learners bool) string {
	states, losing := 0, 0
	everyCluster(size, func(m members) {
		if !learners && m.voters() < size {
			return
		}
		had, lost := l.loses(m)
		states += policytest.ToInt(had)
		losing += policytest.ToInt(lost)
	})
	return fmt.Sprintf("%d of %d", losing, states)
}

// guardedHead is what the page has above the table with the eviction guard.
var guardedHead = []string{
	"remains. Only a member that died while its pod is Ready and its lease fresh seems healthy then:", "",
	"| what is not known yet | 3 | 5 | 7 | 7, learners too |", "| --- | --- | --- | --- | --- |",
}

// TestBudgetLag counts what remains: the states in which facts that are one
// step old let evictions lose a quorum, without the eviction guard and with it.
// docs/rules/budget.md has the same tables.
func TestBudgetLag(t *testing.T) {
	t.Parallel()
	for _, guarded := range []bool{false, true} {
		var table []string
		for _, l := range lags {
			l.guarded = guarded
			table = append(table, fmt.Sprintf("| %s | %s | %s | %s | %s |", l.what,
				l.count(3, false), l.count(5, false), l.count(7, false), l.count(7, true)))
		}
		table = append(table, fmt.Sprintf("| nothing known beyond `staleLimit` but which pods are Ready | %s | %s | %s | %s |",
			blind(3, false, guarded), blind(5, false, guarded), blind(7, false, guarded), blind(7, true, guarded)))
		if guarded {
			table = append(guardedHead, table...)
		}
		policytest.Lines(t, table)
	}
}

func TestBudgetRecovery(t *testing.T) {
	t.Parallel()
	for _, l := range recoveries {
		for size := 2; size <= largest; size++ {
			everyCluster(size, func(m members) {
				if _, lost := l.loses(m); lost {
					t.Errorf("%s: %s can lose its quorum", l.what, m)
				}
			})
		}
	}
}

// blind counts the same for facts that are stale beyond the limit: every member
// that lives counts as not ready, only pods are known.
func blind(size int, learners, guarded bool) string {
	states, losing := 0, 0
	everyCluster(size, func(m members) {
		if !learners && m.voters() < size || !m.hasQuorum(m.voters()) {
			return
		}
		c := policytest.ClusterOf(unseen.Replace(m.String()))
		c.Stale = true
		v := Evaluate(Facts{Cluster: c, Current: -1, Now: start, State: State{StaleSince: start.Add(-time.Hour)}}, settings)
		b := newBudget(m, 0, v.MinAvailable)
		if guarded {
			b.guard = &guard{size: size, stale: true}
		}
		_, lost := b.losesQuorum(m.voters())
		states++
		losing += policytest.ToInt(lost)
	})
	return fmt.Sprintf("%d of %d", losing, states)
}

// unseen replaces the letters of members by those of members without a fresh lease.
var unseen = strings.NewReplacer("v", "p", "m", "x", "V", "P", "M", "X")
