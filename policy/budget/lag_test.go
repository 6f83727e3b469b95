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
}

// lags are the ways in which facts can be one step old while a member or a pod
// goes down.
var lags = []lag{
	{"member died, its pod still Ready, its lease still fresh", podOnlyV, wellV, false},
	{"pod just unready, member alive", memberOnlyV, wellV, false},
	{"the same, and the disruption controller has not seen it", memberOnlyV, wellV, true},
	{"member and pod just down", downV, wellV, false},
	{"the same, and the disruption controller has not seen it", downV, wellV, true},
	{"member died, its pod known to be unready", downV, memberOnlyV, false},
	{"pod just unready, its member known to be down", downV, podOnlyV, false},
	{"the same, and the disruption controller has not seen it", downV, podOnlyV, true},
	{"pod Ready again, its member still down", podOnlyV, downV, false},
	{"learner has a vote now, its pod unready", memberOnlyV, memberOnlyL, false},
}

// recoveries are the other direction: better than known.
var recoveries = []lag{
	{"member and pod back", wellV, downV, false},
	{"member back, its pod known to be Ready", wellV, podOnlyV, false},
	{"pod back, its member known to be ready", wellV, memberOnlyV, false},
	{"member back, its pod unready", memberOnlyV, downV, false},
	{"learner with a Ready pod has a vote now", wellV, wellL, false},
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

// TestBudgetLag counts what remains: the states in which facts that are one
// step old let evictions lose a quorum. docs/rules/budget.md has the same table.
func TestBudgetLag(t *testing.T) {
	t.Parallel()
	var table []string
	for _, l := range lags {
		table = append(table, fmt.Sprintf("| %s | %s | %s | %s | %s |", l.what,
			l.count(3, false), l.count(5, false), l.count(7, false), l.count(7, true)))
	}
	table = append(table, fmt.Sprintf("| nothing known beyond `staleLimit` but which pods are Ready | %s | %s | %s | %s |",
		blind(3, false), blind(5, false), blind(7, false), blind(7, true)))
	policytest.Lines(t, table)
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
func blind(size int, learners bool) string {
	states, losing := 0, 0
	everyCluster(size, func(m members) {
		if !learners && m.voters() < size || !m.hasQuorum(m.voters()) {
			return
		}
		c := policytest.ClusterOf(strings.NewReplacer("v", "p", "m", "x", "V", "P", "M", "X").Replace(m.String()))
		c.Stale = true
		v := Evaluate(Facts{Cluster: c, Current: -1, Now: start, State: State{StaleSince: start.Add(-time.Hour)}}, settings)
		_, lost := newBudget(m, 0, v.MinAvailable).losesQuorum(m.voters())
		states++
		losing += policytest.ToInt(lost)
	})
	return fmt.Sprintf("%d of %d", losing, states)
}
