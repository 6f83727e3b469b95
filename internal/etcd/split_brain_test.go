// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestSplitBrain(t *testing.T) {
	members := []Member{{Pod: "a-0", ClusterID: 0xa}, {Pod: "a-1", ClusterID: 0xb}, {Pod: "a-2", ClusterID: 0xa}, {Pod: "a-3", Err: errors.New("down")}}
	const want = "split brain: the members belong to 2 etcd clusters: a-0, a-2 in cluster 000000000000000a; a-1 in cluster 000000000000000b"
	if err := severalIDs(members); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := severalIDs(members[2:]); err != nil {
		t.Errorf("one cluster: %v", err)
	}
	const same = "split brain: the members belong to 2 etcd clusters with one cluster ID: a-0, a-1 led by 0000000000000001; a-2 led by 0000000000000003"
	if err := (&SplitBrainError{Pods: map[uint64][]string{3: {"a-2"}, 1: {"a-0", "a-1"}}, SameID: true}); err.Error() != same {
		t.Errorf("%v, want %s", err, same)
	}
}

// view is what one member answers: the leader that it follows, and two lists that it confirms with a quorum, nil for
// none that it confirms. The member of pod a-0 is 1. The zero view is of one that doesn't answer.
type view struct {
	leader        uint64
	first, second []uint64
}

// member returns the status of a member.
func (v view) member(i int) Member {
	m := Member{Pod: fmt.Sprint("a-", i), ID: uint64(i + 1), ClusterID: 0xc, LeaderID: v.leader}
	m.Leader = m.ID == v.leader
	if v.leader == 0 && v.first == nil {
		m.Err = errors.New("down")
	}
	return m
}

// findAmong asks the members for their lists.
func findAmong(ctx context.Context, views ...view) map[uint64][]string {
	var members []Member
	for i, v := range views {
		members = append(members, v.member(i))
	}
	asked := make([]int, len(views))
	return findApart(ctx, members, func(_ context.Context, m Member) (list []Listed, err error) {
		v := views[m.ID-1]
		ids := [][]uint64{v.first, v.second}[asked[m.ID-1]]
		asked[m.ID-1]++
		for _, id := range ids {
			list = append(list, Listed{ID: id})
		}
		if list == nil {
			err = errors.New("no quorum")
		}
		return list, err
	})
}

// TestOneClusterID: members with one cluster ID are several clusters only if that is certain.
func TestOneClusterID(t *testing.T) {
	t.Parallel()
	of := func(ids ...uint64) []uint64 { return ids }
	all := of(1, 2, 3)
	for _, row := range []struct {
		name  string
		views []view
		want  string
	}{
		{"one cluster", []view{{1, all, all}, {1, all, all}, {1, all, all}}, ""},
		{"the last one was started with --force-new-cluster", []view{{1, all, all}, {1, all, all}, {3, of(3), of(3)}}, "1: a-0 a-1; 3: a-2"},
		{"the leader of the larger one does not answer", []view{{}, {1, all, all}, {3, of(3), of(3)}}, "1: a-1; 3: a-2"},
		{"both were", []view{{1, of(1), of(1)}, {2, of(2), of(2)}, {0, all, nil}}, "1: a-0; 2: a-1"},
		{"three clusters", []view{{1, of(1), of(1)}, {2, of(2), of(2)}, {3, all, all}}, "1: a-0; 2: a-1; 3: a-2"},
		{"an election, the list is the same", []view{{1, all, all}, {2, all, all}, {2, all, all}}, ""},
		{"two leaders, one without a quorum", []view{{1, nil, nil}, {2, all, all}, {2, all, all}}, ""},
		{"a leader was removed before", []view{{1, nil, nil}, {2, of(2, 3), of(2, 3)}, {2, of(2, 3), of(2, 3)}}, ""},
		{"a leader is removed meanwhile", []view{{1, all, nil}, {2, of(2, 3), of(2, 3)}, {2, of(2, 3), of(2, 3)}}, ""},
		{"a leader was removed, and a follower is late", []view{{}, {1, all, of(2, 3)}, {3, of(2, 3), of(2, 3)}}, ""},
		{"a list that lags, of a member without a leader", []view{{1, of(1, 2), of(1, 2)}, {1, of(1, 2), of(1, 2)}, {0, all, all}}, ""},
		{"a list that lags, of a member that follows the leader", []view{{1, of(1, 2, 4), of(1, 2, 4)}, {1, of(1, 2, 4), of(1, 2, 4)}, {1, all, all}}, ""},
		{"the second one can't show its quorum", []view{{1, all, all}, {1, all, all}, {3, nil, nil}}, ""},
	} {
		got := findAmong(t.Context(), row.views...)
		var parts []string
		for leader := range uint64(4) {
			if pods := got[leader]; pods != nil {
				parts = append(parts, fmt.Sprintf("%d: %s", leader, strings.Join(pods, " ")))
			}
		}
		if text := strings.Join(parts, "; "); text != row.want {
			t.Errorf("%s: %q, want %q", row.name, text, row.want)
		}
	}
}

// TestAgreeingMembersAreNotAsked: members that agree on the leader are not asked for more.
func TestAgreeingMembersAreNotAsked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	members := []Member{{Pod: "a-0", ID: 1, LeaderID: 1, Leader: true}, {Pod: "a-1", ID: 2, LeaderID: 1}, {Pod: "a-2", ID: 3}, {Pod: "a-3", ID: 4, LeaderID: 9, Learner: true}}
	findApart(t.Context(), members, func(context.Context, Member) ([]Listed, error) { asked.Add(1); return nil, nil })
	if asked.Load() > 0 {
		t.Errorf("%d calls", asked.Load())
	}
}

// state is a leader and the members of one log at one time.
type state struct {
	leader  uint64
	members []uint64
}

// next returns the states that can follow: another leader, a member less, or a new one.
func (s state) next() (all []state) {
	for _, leader := range s.members {
		all = append(all, state{leader, s.members}, state{leader, append(slices.Clone(s.members), 9)})
		for _, gone := range s.members {
			if left := slices.DeleteFunc(slices.Clone(s.members), func(id uint64) bool { return id == gone }); gone != leader {
				all = append(all, state{leader, left})
			}
		}
	}
	return all
}

// answersOf returns what a member of one log can answer if its status is read up to the state p, its first list from
// there up to the state q, and its second list after that. A status can be old. Only a member confirms a list.
func answersOf(log []state, id uint64, p, q int) (all []view) {
	lists := func(from, to int) [][]uint64 {
		found := [][]uint64{nil}
		for _, s := range log[from : to+1] {
			if slices.Contains(s.members, id) {
				found = append(found, s.members)
			}
		}
		return found
	}
	for before := range p + 1 {
		for _, first := range lists(p, q) {
			for _, second := range lists(q, len(log)-1) {
				all = append(all, view{log[before].leader, first, second})
			}
		}
	}
	return all
}

// TestOneLogIsOneCluster tries all that two members of one cluster can answer while its leader and its list change.
func TestOneLogIsOneCluster(t *testing.T) {
	t.Parallel()
	tried := 0
	first := state{1, []uint64{1, 2, 3}}
	for _, second := range first.next() {
		for _, third := range second.next() {
			log := []state{first, second, third}
			for _, pq := range [][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}} {
				for _, a := range answersOf(log, 1, pq[0], pq[1]) {
					for _, b := range answersOf(log, 2, pq[0], pq[1]) {
						tried++
						if got := findAmong(t.Context(), a, b); got != nil {
							t.Fatalf("%+v: a-0 answers %+v, a-1 %+v: %v", log, a, b, got)
						}
					}
				}
			}
		}
	}
	if tried < 10_000 {
		t.Errorf("only %d were tried", tried)
	}
}
