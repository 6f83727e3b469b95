// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"strings"
	"testing"
)

func TestSnapshotOrder(t *testing.T) {
	t.Parallel()
	leader, ahead, behind := Member{Pod: "leader", Leader: true, RaftApplied: 9}, Member{Pod: "ahead", RaftApplied: 8}, Member{Pod: "behind", RaftApplied: 7}
	for _, c := range []struct {
		name    string
		members []Member
		want    string
	}{
		{"the leader last, who has most first", []Member{leader, behind, ahead}, "ahead behind leader"},
		{"the leader alone", []Member{leader}, "leader"},
		{"no learner", []Member{{Pod: "learner", Learner: true, RaftApplied: 9}, behind}, "behind"},
		{"none that doesn't answer", []Member{{Pod: "silent", Err: errors.New("no")}, leader}, "leader"},
		{"none whose data is corrupt", []Member{{Pod: "corrupt", RaftApplied: 9, Alarms: []string{"CORRUPT"}}, behind}, "behind"},
		{"one that is out of space too", []Member{{Pod: "full", RaftApplied: 9, Alarms: []string{"NOSPACE"}}, behind}, "full behind"},
		{"one that lags far after the leader", []Member{{Pod: "far", RaftApplied: 10, LeaderID: 1}, {Pod: "leader", Leader: true, RaftApplied: 1_000_000, LeaderID: 1}}, "leader far"},
		{"one without a leader last", []Member{{Pod: "cut off", RaftApplied: 9}, {Pod: "leader", Leader: true, RaftApplied: 9, LeaderID: 1}}, "leader cut off"},
		{"all without a leader", []Member{{Pod: "a", RaftApplied: 8}, {Pod: "b", RaftApplied: 9}}, "b a"},
		{"none", nil, ""},
	} {
		var got []string
		for _, m := range SnapshotOrder(c.members) {
			got = append(got, m.Pod)
		}
		if order := strings.Join(got, " "); order != c.want {
			t.Errorf("%s: %q, want %q", c.name, order, c.want)
		}
	}
}
