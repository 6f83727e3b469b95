// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Share is a cluster and the part of it that a budget selects.
type Share struct {
	Cluster policy.Cluster
	// Pods are the members' pods that the budget selects.
	Pods []string
	// State has the times of the cluster that run on the budget that protects it, nil without one.
	State *State
}

// SharedFacts is what is decided on for a budget that can't protect one cluster alone: it
// selects only some members, the members of several clusters, or shares them with
// another budget.
type SharedFacts struct {
	Shares []Share
	// NonMemberPods counts the Ready pods that it selects and that are no members.
	NonMemberPods int
	// Current, Floor, Hold, State and Now are those of Facts. State is also that of the shares without one.
	Current int
	Floor   int
	Hold    bool
	State   State
	Now     time.Time
	// Unconfirmed is true while the health of a member of any of the clusters depends on a lease of unknown age.
	// Such facts make the budget stricter only.
	Unconfirmed bool
}

// EvaluateShared decides on the minAvailable of such a budget. It never asks for more than
// the pods that the budget selects can meet. The order of the shares doesn't matter: each of the clusters
// asks, begins with its own share, and records the result on the same budget.
func EvaluateShared(f SharedFacts, s Settings) Result {
	var (
		t shareCounts
		v Result
	)
	clocks := &clocks{now: f.Now, state: State{LooserSince: f.State.LooserSince}}
	for _, share := range slices.SortedStableFunc(slices.Values(f.Shares), compareShares) {
		c := share.Cluster
		c.NonMemberPods, c.Hibernated = 0, 0
		state := f.State
		if share.State != nil {
			state = *share.State
		}
		one := Evaluate(Facts{Cluster: c, Current: -1, State: state, Now: f.Now}, s)
		if spare, limits := t.add(share, one.Target); v.Message == "" || limits && spare == t.spare {
			v.Reason, v.Message = one.Reason, one.Message
		}
		clocks.state = clocks.state.earliest(one.State)
		clocks.within(f.Now, one.Recheck)
	}
	v.Target = max(t.due()+f.NonMemberPods, f.Floor)
	if f.Unconfirmed && v.Target < f.Current {
		v.MinAvailable, v.State = f.Current, f.State
	} else {
		v.MinAvailable = clocks.settle(
			Facts{Current: f.Current, Hold: f.Hold}, s,
			counts{readyPods: t.ready, nonMemberPods: f.NonMemberPods}, row{target: v.Target})
		v.State = clocks.state
	}
	v.Recheck = clocks.next(f.Now)
	v.Message += fmt.Sprintf("; a budget over %d of the members' pods gets minAvailable %d", t.selected, v.MinAvailable)
	return v
}

func compareShares(a, b Share) int {
	return cmp.Or(cmp.Compare(a.Cluster.Namespace, b.Cluster.Namespace), cmp.Compare(a.Cluster.Name, b.Cluster.Name), cmp.Compare(a.Cluster.Target, b.Cluster.Target))
}

// LeastShared returns the least that such a budget keeps when it is released: the quorum of each
// cluster, as far as the pods that it selects can meet it.
func LeastShared(f SharedFacts) int {
	var t shareCounts
	for _, share := range f.Shares {
		target := 0
		if !share.Cluster.Single() {
			target = policy.Quorum(share.Cluster.Size)
		}
		t.add(share, target)
	}
	return t.due()
}

// EvictionsLeft returns how many Ready pods such a budget allows to evict at a minAvailable.
func (f SharedFacts) EvictionsLeft(minAvailable int) int {
	ready := f.NonMemberPods
	for _, share := range f.Shares {
		for _, m := range share.Cluster.Members {
			if m.PodReady && slices.Contains(share.Pods, m.Pod) {
				ready++
			}
		}
	}
	return max(0, ready-minAvailable)
}

// shareCounts adds up what each cluster asks for.
type shareCounts struct {
	selected int // pods of members that the budget selects
	ready    int // those that are Ready
	most     int // pods that it selects, or will select as soon as they exist
	sum      int // what the clusters ask for of the pods that it selects
	spare    int // the fewest Ready pods that any cluster can spare
	limited  bool
}

// add adds a cluster that asks for target of its pods. It returns how many Ready pods the
// cluster can spare, and reports whether it asks for anything.
func (t *shareCounts) add(share Share, target int) (spare int, limits bool) {
	healthy, existing, ready, selected := 0, 0, 0, 0
	for _, m := range share.Cluster.Members {
		if !m.Exists {
			continue
		}
		existing++
		in := slices.Contains(share.Pods, m.Pod)
		if in {
			selected++
		}
		if m.PodReady {
			healthy++
			if in {
				ready++
			}
		}
	}
	t.selected, t.ready, t.most = t.selected+selected, t.ready+ready, t.most+selected
	if selected == existing {
		t.most += max(0, share.Cluster.Size-existing)
	}
	if target <= 0 {
		return 0, false
	}
	spare = healthy - target
	t.sum += max(0, min(ready-spare, len(share.Pods)))
	if !t.limited || spare < t.spare {
		t.spare, t.limited = spare, true
	}
	return spare, true
}

// due returns the number by which no cluster loses more Ready pods than it can spare, even if all
// evictions take pods of the same cluster.
func (t *shareCounts) due() int {
	if !t.limited {
		return 0
	}
	return min(max(t.sum, t.ready-t.spare, 0), t.most)
}

// earliest returns the state with the earlier one of each two times that run.
func (s State) earliest(o State) State {
	first := func(a, b time.Time) time.Time {
		if a.IsZero() || !b.IsZero() && b.Before(a) {
			return b
		}
		return a
	}
	return State{
		LooserSince:        s.LooserSince,
		HoldSince:          first(s.HoldSince, o.HoldSince),
		BackupTrueSince:    first(s.BackupTrueSince, o.BackupTrueSince),
		BackupUnknownSince: first(s.BackupUnknownSince, o.BackupUnknownSince),
		StaleSince:         first(s.StaleSince, o.StaleSince),
	}
}
