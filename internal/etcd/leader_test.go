// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"testing"
)

// TestHealthy: a member is healthy that answers and follows the leader that most follow.
func TestHealthy(t *testing.T) {
	t.Parallel()
	led := func(by uint64) Member { return Member{LeaderID: by} }
	for _, row := range []struct {
		name    string
		members []Member
		want    string
	}{
		{"all follow one", []Member{{LeaderID: 1, Leader: true}, led(1), led(1)}, "yyy"},
		{"one follows none", []Member{{LeaderID: 1, Leader: true}, led(1), led(0)}, "yyn"},
		{"one does not answer", []Member{{LeaderID: 1, Leader: true}, led(1), {LeaderID: 1, Err: errors.New("refused")}}, "yyn"},
		{"an old leader after a partition", []Member{{LeaderID: 1, Leader: true}, led(2), {LeaderID: 2, Leader: true}}, "nyy"},
		{"an old leader and its follower", []Member{{LeaderID: 1, Leader: true}, led(1), led(2), led(2), led(2)}, "nnyyy"},
		{"the leader does not answer", []Member{led(3), led(3), {Err: errors.New("refused")}}, "yyn"},
		{"an election", []Member{led(0), led(0), led(0)}, "nnn"},
		{"a learner", []Member{{LeaderID: 1, Leader: true}, {LeaderID: 1, Learner: true}}, "yy"},
	} {
		got := ""
		for _, m := range row.members {
			if (Survey{Members: row.members}).Healthy(m) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

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
