// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"testing"
)

// TestSingles: members are etcds of their own only if each leads and lists itself alone.
func TestSingles(t *testing.T) {
	t.Parallel()
	leads := func(pod string, id uint64) Member {
		return Member{Pod: pod, ID: id, ClusterID: id, LeaderID: id, Leader: true}
	}
	a, b := leads("a-0", 1), leads("a-1", 2)
	follows := Member{Pod: "a-1", ID: 2, ClusterID: 1, LeaderID: 1}
	alone := map[string][]Listed{"a-0": {{ID: 1}}, "a-1": {{ID: 2}}}
	for _, row := range []struct {
		name    string
		members []Member
		lists   map[string][]Listed
		want    bool
	}{
		{"each alone", []Member{a, b}, alone, true},
		{"each alone, by etcd's default", []Member{leads("a-0", 7), leads("a-1", 7)}, map[string][]Listed{"a-0": {{ID: 7}}, "a-1": {{ID: 7}}}, true},
		{"one cluster", []Member{a, follows}, map[string][]Listed{"a-0": {{ID: 1}, {ID: 2}}, "a-1": {{ID: 1}, {ID: 2}}}, false},
		{"one began again", []Member{a, b}, map[string][]Listed{"a-0": {{ID: 1}, {ID: 3}}, "a-1": {{ID: 2}}}, false},
		{"a list of another", []Member{a, b}, map[string][]Listed{"a-0": {{ID: 1}}, "a-1": {{ID: 1}}}, false},
		{"a list that isn't known", []Member{a, b}, map[string][]Listed{"a-0": {{ID: 1}}}, false},
		{"one does not answer", []Member{a, {Pod: "a-1", Err: errors.New("down")}}, alone, false},
		{"an election", []Member{a, {Pod: "a-1", ID: 2}}, alone, false},
		{"one member", []Member{a}, alone, false},
		{"none", nil, nil, false},
	} {
		if got := eachLeads(row.members) && eachAlone(row.members, row.lists); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
