// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

var quick = Settings{BackupHoldLimit: 10 * time.Minute, StaleLimit: 3 * time.Minute, Settle: time.Minute}

// walk is a cluster through time, what its budget remembers, and the history
// that a verdict is judged by.
type walk struct {
	*rand.Rand
	t       *testing.T
	letters []byte
	facts   Facts

	dueSince   time.Time // since when a value that frees a ready pod is due
	freed      time.Time // when one was last written
	holdSince  time.Time
	trueSince  time.Time
	staleSince time.Time

	loosened, held, stale int
}

// TestBudgetWalk lets clusters go through random troubles, checks them at random
// moments and whenever a verdict asks for it, and holds each verdict against what
// happened before it.
func TestBudgetWalk(t *testing.T) {
	t.Parallel()
	dice := policytest.Seed(t)
	total := walk{}
	for range 300 {
		w := walk{Rand: dice, t: t, letters: []byte("vvv"), facts: Facts{Current: -1, Now: start}}
		for range 200 {
			w.step()
			if t.Failed() {
				return
			}
		}
		total.loosened += w.loosened
		total.held += w.held
		total.stale += w.stale
	}
	t.Logf("%d loosenings, %d verdicts under a hold, %d under stale facts", total.loosened, total.held, total.stale)
	if min(total.loosened, total.held, total.stale) < 100 {
		t.Error("the walks see too little")
	}
}

// step lets time pass and something happen, and decides.
func (w *walk) step() {
	w.happen()
	c := &w.facts.Cluster
	status, stale, cut, op := c.BackupReady, c.Stale, c.TrafficCut, c.AllMembersReady
	*c = policytest.ClusterOf(string(w.letters))
	c.BackupReady, c.Stale, c.TrafficCut, c.AllMembersReady = status, stale, cut, op
	v := Evaluate(w.facts, quick)
	w.remember()
	w.judge(v)
	w.judgeRepeat(v)
	w.judgeRecheck(v)
	w.facts.Current, w.facts.State = v.MinAvailable, v.State
	if v.Recheck > 0 && w.IntN(2) == 0 {
		w.facts.Now = w.facts.Now.Add(v.Recheck)
	} else {
		w.facts.Now = w.facts.Now.Add(time.Duration(w.IntN(40_000)) * time.Millisecond)
	}
}

// happen changes at most one thing, and mostly for the better.
func (w *walk) happen() {
	c := &w.facts.Cluster
	switch w.IntN(12) {
	case 0:
		w.letters[w.IntN(len(w.letters))] = "vxpm"[w.IntN(4)]
	case 1, 2:
		for i := range w.letters {
			w.letters[i] = 'v'
		}
	case 3:
		w.letters = []byte([]string{"vvv", "vvvvv", "vvv--", "vvvV", "vv", "vvv+"}[w.IntN(6)])
	case 4:
		c.BackupReady.Status = statuses[w.IntN(len(statuses))]
	case 5:
		c.BackupReady.Status = policy.True
	case 6:
		c.AllMembersReady.Status = statuses[w.IntN(len(statuses))]
	case 7:
		c.AllMembersReady.Status = policy.True
	case 8:
		c.Stale = w.IntN(3) == 0
	case 9:
		c.TrafficCut = w.IntN(5) == 0
	}
}
