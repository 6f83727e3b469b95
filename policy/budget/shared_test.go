// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

// share is a cluster as policytest.ClusterOf has it, of which the budget selects the
// first members.
type share struct {
	members string
	selects int
}

func sharedOf(shares ...share) SharedFacts {
	f := SharedFacts{Current: -1, Now: start}
	for _, s := range shares {
		c := policytest.ClusterOf(s.members)
		var pods []string
		for _, m := range c.Members[:s.selects] {
			pods = append(pods, m.Pod)
		}
		f.Shares = append(f.Shares, Share{Cluster: c, Pods: pods})
	}
	return f
}

// sharedRows are the rows of docs/rules/budget.md about budgets that can't protect a cluster
// alone.
var sharedRows = []struct {
	row    string
	shares []share
	want   int
	// least is what is kept when it is released.
	least int
}{
	{"B-33 one of three, all well", []share{{"vvv", 1}}, 0, 0},
	{"B-33 two of three, all well", []share{{"vvv", 2}}, 1, 1},
	{"B-33 four of five, all well", []share{{"vvvvv", 4}}, 2, 2},
	{"B-33 one of three, and another one is down", []share{{"vxv", 1}}, 1, 1},
	{"B-33 one of three, which is down", []share{{"xvv", 1}}, 0, 0},
	{"B-33 one of three, and no pod may go", []share{{"vmv", 1}}, 1, 1},
	{"B-33 one of three, and the quorum is at risk", []share{{"vxx", 1}}, 1, 1},
	{"B-33 all of three, all well", []share{{"vvv", 3}}, 2, 2},
	{"B-33 all of three, which are not there yet", []share{{"vvv--", 3}}, 3, 3},
	{"B-34 two clusters of three", []share{{"vvv", 3}, {"vvv", 3}}, 5, 5},
	{"B-34 two clusters of different size", []share{{"vvvvv", 5}, {"vvv", 3}}, 7, 7},
	{"B-34 a member of one is down", []share{{"vvx", 3}, {"vvv", 3}}, 5, 5},
	{"B-34 no pod of one may go", []share{{"vvm", 3}, {"vvv", 3}}, 6, 5},
	{"B-34 beside a single member", []share{{"vvv", 3}, {"v", 1}}, 3, 3},
	{"B-34 single members only", []share{{"v", 1}, {"v", 1}}, 0, 0},
}

func TestShared(t *testing.T) {
	t.Parallel()
	for _, row := range sharedRows {
		f := sharedOf(row.shares...)
		if v := EvaluateShared(f, settings); v.MinAvailable != row.want {
			t.Errorf("%s: minAvailable %d (%s), want %d", row.row, v.MinAvailable, v.Message, row.want)
		}
		f.NonMemberPods = 2
		if v := EvaluateShared(f, settings); v.MinAvailable != row.want+2 {
			t.Errorf("%s with 2 other pods: minAvailable %d, want %d", row.row, v.MinAvailable, row.want+2)
		}
		if got := LeastShared(f); got != row.least {
			t.Errorf("%s: at least %d, want %d", row.row, got, row.least)
		}
	}
}

// TestSharedOrder checks that two clusters with one budget find the same for it, whichever of them is reconciled and
// whatever times run on the budget that protects one of them.
func TestSharedOrder(t *testing.T) {
	t.Parallel()
	for _, row := range sharedRows {
		f := sharedOf(row.shares...)
		for i := range f.Shares {
			f.Shares[i].Cluster.Name = string(rune('a' + i))
			f.Shares[i].Cluster.BackupReady.Status = []policy.Status{policy.False, policy.Unknown}[i%2]
		}
		f.Shares[0].State = &State{HoldSince: start.Add(-time.Minute)}
		f.State = State{LooserSince: start, BackupUnknownSince: start.Add(-time.Second)}
		want := EvaluateShared(f, settings)
		slices.Reverse(f.Shares)
		if got := EvaluateShared(f, settings); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, and in the other order %+v", row.row, want, got)
		}
	}
}

// TestSharedTimes checks floor, hold and settle of such a budget.
func TestSharedTimes(t *testing.T) {
	t.Parallel()
	f := sharedOf(share{"vxv", 1})
	f.Floor, f.Current = 0, 0
	v := EvaluateShared(f, settings)
	if v.MinAvailable != 1 {
		t.Fatalf("%d: not tightened at once", v.MinAvailable)
	}
	well := func(after time.Duration) SharedFacts {
		w := sharedOf(share{"vvv", 1})
		w.Current, w.State, w.Now = v.MinAvailable, v.State, start.Add(after)
		return w
	}
	if v = EvaluateShared(well(0), settings); v.MinAvailable != 1 || v.Recheck != time.Minute {
		t.Errorf("%d@%s, want 1@1m", v.MinAvailable, v.Recheck)
	}
	held := well(time.Minute)
	held.Hold = true
	if v := EvaluateShared(held, settings); v.MinAvailable != 1 {
		t.Errorf("%d: loosened although it is held", v.MinAvailable)
	}
	floored := well(time.Minute)
	floored.Floor = 1
	if v := EvaluateShared(floored, settings); v.MinAvailable != 1 {
		t.Errorf("%d: below what its author asks for", v.MinAvailable)
	}
	if v = EvaluateShared(well(time.Minute), settings); v.MinAvailable != 0 {
		t.Errorf("%d, want 0 after the settle time", v.MinAvailable)
	}
	// A failed backup holds the pods of a partial budget, for as long as the limit.
	fails := sharedOf(share{"vvv", 1})
	fails.Shares[0].Cluster.BackupReady.Status = policy.False
	if v = EvaluateShared(fails, settings); v.MinAvailable != 1 || v.State.HoldSince.IsZero() {
		t.Errorf("%d since %s while backups fail, want 1", v.MinAvailable, v.State.HoldSince)
	}
	fails.State, fails.Current, fails.Now = v.State, 1, start.Add(2*time.Hour)
	fails.State.LooserSince = start.Add(time.Hour)
	if v = EvaluateShared(fails, settings); v.MinAvailable != 0 {
		t.Errorf("%d after the limit, want 0", v.MinAvailable)
	}
}

// joint is a budget over two clusters, as the eviction API sees it.
type joint struct {
	clusters                         [2]members
	desired, currentHealthy, allowed int
}

func (j *joint) sync() {
	j.currentHealthy = j.clusters[0].readyPods() + j.clusters[1].readyPods()
	j.allowed = max(0, j.currentHealthy-j.desired)
}

func (j *joint) evict(cluster, kind int) bool {
	one := budget{pods: j.clusters[cluster], desired: j.desired, currentHealthy: j.currentHealthy, allowed: j.allowed}
	ok := one.evict(kind)
	j.clusters[cluster], j.allowed = one.pods, one.allowed
	return ok
}

// loses reports whether evictions that the budget admits cost a cluster its quorum.
func (j joint) loses(seen map[joint]bool, sizes, had [2]int) bool {
	if seen[j] {
		return false
	}
	seen[j] = true
	for i := range j.clusters {
		if had[i] == 1 && !j.clusters[i].hasQuorum(sizes[i]) {
			return true
		}
	}
	for i := range j.clusters {
		for kind := range j.clusters[i] {
			next := j
			if !next.evict(i, kind) {
				continue
			}
			synced := next
			synced.sync()
			if next.loses(seen, sizes, had) || synced.loses(seen, sizes, had) {
				return true
			}
		}
	}
	return false
}

// TestSharedKeepsQuorum checks that one budget over two clusters costs neither its quorum,
// over all states of two clusters of up to three members, and of three and five.
func TestSharedKeepsQuorum(t *testing.T) {
	t.Parallel()
	states := 0
	check := func(a, b members, sizes [2]int) {
		if b.voters() != sizes[1] || a.voters() != sizes[0] {
			return // learners are the rule's of one cluster
		}
		states++
		f := sharedOf(share{a.String(), sizes[0]}, share{b.String(), sizes[1]})
		v := EvaluateShared(f, settings)
		j := joint{clusters: [2]members{a, b}, desired: v.MinAvailable}
		j.sync()
		// A single member can't be kept by any budget.
		had := [2]int{}
		for i, m := range j.clusters {
			had[i] = policytest.ToInt(sizes[i] > 1 && m.hasQuorum(sizes[i]))
		}
		if j.loses(map[joint]bool{}, sizes, had) {
			t.Errorf("minAvailable %d over %s and %s costs a quorum: %s", v.MinAvailable, a, b, v.Message)
		}
	}
	for _, sizes := range [][2]int{{1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}, {3, 5}} {
		everyCluster(sizes[0], func(a members) {
			everyCluster(sizes[1], func(b members) { check(a, b, sizes) })
		})
	}
	if states < 1000 {
		t.Errorf("only %d states", states)
	}
	t.Logf("%d states", states)
}

// TestSharedUnconfirmed checks that a lease of unconfirmed age in any of the clusters begins no wait and loosens
// nothing, and that the budget is tightened nevertheless.
func TestSharedUnconfirmed(t *testing.T) {
	t.Parallel()
	for _, row := range sharedRows {
		f := sharedOf(row.shares...)
		f.Unconfirmed = true
		f.State.LooserSince = start.Add(-time.Hour)
		for f.Current = range 10 {
			v := EvaluateShared(f, settings)
			if v.MinAvailable != max(f.Current, row.want) {
				t.Errorf("%s: minAvailable %d of %d in force, %d is due", row.row, v.MinAvailable, f.Current, row.want)
			}
			if row.want < f.Current && v.State != f.State {
				t.Errorf("%s: %+v is recorded, and %+v was", row.row, v.State, f.State)
			}
		}
	}
}
