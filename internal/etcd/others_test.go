// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"slices"
	"testing"
)

// TestIsListed: a pod counts as a member of the list only if all that it answers is that member's.
func TestIsListed(t *testing.T) {
	t.Parallel()
	l := Listed{ID: 3, Name: "b-0"}
	for name, row := range map[string]struct {
		m    Member
		want bool
	}{
		"it follows":               {Member{ID: 3, ClusterID: 7, LeaderID: 1}, true},
		"it leads":                 {Member{ID: 3, ClusterID: 7, LeaderID: 1, Leader: true}, true},
		"another member":           {Member{ID: 4, ClusterID: 7, LeaderID: 1}, false},
		"another cluster":          {Member{ID: 3, ClusterID: 8, LeaderID: 1}, false},
		"it follows another one":   {Member{ID: 3, ClusterID: 7, LeaderID: 3}, false},
		"it follows none":          {Member{ID: 3, ClusterID: 7}, false},
		"it answers with an error": {Member{ID: 3, ClusterID: 7, LeaderID: 1, Err: errors.New("refused")}, false},
	} {
		if got := row.m.isListed(l, 7, 1); got != row.want {
			t.Errorf("%s: %t, want %t", name, got, row.want)
		}
	}
}

// TestOutsidersBesideOthers: an entry of the list that another pod answers as is no entry of a pod that is silent.
func TestOutsidersBesideOthers(t *testing.T) {
	t.Parallel()
	s := Survey{
		Members: []Member{{Pod: "main-0", ID: 1}, {Pod: "main-1", Err: errors.New("refused")}},
		List:    []Listed{{ID: 1, Pod: "main-0"}, {ID: 3, Name: "b-0"}},
	}
	if got := s.NonMemberPods(); got != nil {
		t.Errorf("the entry may be main-1's: %q", got)
	}
	s.Others = []Member{{Pod: "b-0", ID: 3}}
	if got := s.NonMemberPods(); !slices.Equal(got, []string{"main-1"}) {
		t.Errorf("%q, want main-1", got)
	}
}
