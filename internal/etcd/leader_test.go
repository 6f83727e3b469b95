// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"testing"
)

func TestLeader(t *testing.T) {
	t.Parallel()
	follower := Member{Pod: "a-0", RaftTerm: 3}
	for _, row := range []struct {
		name    string
		members []Member
		want    string
	}{
		{"no member", nil, ""},
		{"an election", []Member{follower}, ""},
		{"one", []Member{follower, {Pod: "a-1", Leader: true, RaftTerm: 3}}, "a-1"},
		{"an old one of a lower term", []Member{{Pod: "a-1", Leader: true, RaftTerm: 3}, {Pod: "a-2", Leader: true, RaftTerm: 4}}, "a-2"},
		{"an unexpected member", []Member{{Pod: "a-1", Leader: true, Err: errors.New("unexpected")}}, ""},
	} {
		leader, ok := Survey{Members: row.members}.Leader()
		if leader.Pod != row.want || ok != (row.want != "") {
			t.Errorf("%s: got %q, %t; want %q", row.name, leader.Pod, ok, row.want)
		}
	}
}
