// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

const largest = 7

var statuses = []policy.Status{policy.Absent, policy.True, policy.False, policy.Unknown}

// verdictKey is all that the eviction API gets to see of a state.
type verdictKey struct {
	members   members
	missing   int
	otherPods int
	desired   int
}

// everyBudget is the exhaustive state space: all clusters of up to seven
// members, voters and learners, of which some may not be there yet, with each
// value of both conditions, another pod or none, cut or not, fresh or stale,
// limits passed or not. It calls f with the facts and what was decided.
func everyBudget(f func(members, Facts, Result)) (states int) {
	for size := range largest + 1 {
		for missing := range size + 1 {
			everyCluster(size-missing, func(m members) {
				c := policytest.ClusterOf(m.String() + strings.Repeat("-", missing))
				everySituation(c, func(facts Facts) {
					states++
					f(m, facts, Evaluate(facts, settings))
				})
			})
		}
	}
	return states
}

func everySituation(c policy.Cluster, f func(Facts)) {
	facts := Facts{Cluster: c, Current: -1, Now: start}
	flags := []bool{false, true}
	for c.NonMemberPods = range 2 {
		for _, c.AllMembersReady.Status = range statuses {
			for _, c.BackupReady.Status = range statuses {
				for _, long := range flags {
					facts.State = State{}
					if long {
						facts.State = State{HoldSince: start.Add(-2 * time.Hour), StaleSince: start.Add(-time.Hour)}
					}
					for _, c.Stale = range flags {
						facts.Cluster = c
						f(facts)
						// No limit ends what a cut asks for.
						if !long {
							facts.Cluster.TrafficCut = true
							f(facts)
						}
					}
				}
			}
		}
	}
}

// TestBudgetKeepsQuorum is the promise: over every state, as long as the facts
// are true, no sequence of evictions that the budget admits loses a quorum that
// was there; and where a member is down with its pod unready, and all unready
// pods may go without a loss, its pod can be evicted.
//
// How many votes there are is not known while members are missing: a missing
// one may have a vote and be dead, or not be a member yet. It must hold for all.
// Stale facts beyond their limit are no true facts; see TestBudgetLag.
func TestBudgetKeepsQuorum(t *testing.T) {
	t.Parallel()
	p := promise{t: t, checked: map[verdictKey]bool{}}
	states := everyBudget(p.check)
	t.Logf("%d states, %d budgets before the eviction API; sick pods free to go in %d", states, len(p.checked), p.free)
	if states < 1_000_000 || p.free == 0 {
		t.Errorf("%d states, sick pods free to go in %d: the state space has shrunk", states, p.free)
	}
}

// promise is what is held against each verdict. What the eviction API gets to
// see is the same for many, and is tried once.
type promise struct {
	t       *testing.T
	checked map[verdictKey]bool
	free    int
}

func (p *promise) check(m members, f Facts, v Result) {
	n, missing := f.Cluster.Size, f.Cluster.Size-len(f.Cluster.Members)
	if n > 1 && v.MinAvailable < policy.Quorum(m.voters()+missing) || n <= 1 && v.MinAvailable != 0 {
		p.t.Errorf("%s of %d: minAvailable %d for %s is below the quorum", m, n, v.MinAvailable, v.Reason)
	}
	if n <= 1 || v.Reason == FactsStaleTooLong {
		return
	}
	b := newBudget(m, f.Cluster.NonMemberPods, v.MinAvailable)
	if !f.Cluster.Stale && !f.Cluster.TrafficCut && safe(m, missing) {
		p.checkSick(b, v)
	}
	key := verdictKey{m, missing, f.Cluster.NonMemberPods, v.MinAvailable}
	if p.checked[key] {
		return
	}
	p.checked[key] = true
	for voters := m.voters(); voters <= m.voters()+missing; voters++ {
		if left, lost := b.losesQuorum(voters); lost {
			p.t.Errorf("%s (%d missing): %s leaves %q of %d voters", b, missing, v.Reason, left, voters)
		}
	}
}

// checkSick wants the pods of members that are down to be free to go.
func (p *promise) checkSick(b budget, v Result) {
	for _, kind := range []int{downV, downL} {
		if b.pods[kind] > 0 && !b.admits(kind) {
			p.t.Errorf("%s: the pod of a member that is down can't be evicted for %s", b, v.Reason)
		}
		p.free += policytest.ToInt(b.pods[kind] > 0)
	}
}

// safe reports whether a quorum is there, and still would be without any of the
// unready pods: a budget can't distinguish them.
func safe(m members, missing int) bool {
	return 2*int(m[wellV]) > m.voters()+missing
}

// TestSingleMemberUnready shows what no minAvailable can change: with a desired
// number of 0 the eviction API treats no pod as expendable, and none is allowed
// to go below 0 healthy pods.
func TestSingleMemberUnready(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind int
		want bool
	}{{wellV, true}, {downV, false}} {
		var m members
		m[c.kind] = 1
		b := newBudget(m, 0, 0)
		if got := b.admits(c.kind); got != c.want {
			t.Errorf("%s: eviction admitted %t, want %t", b, got, c.want)
		}
	}
}
