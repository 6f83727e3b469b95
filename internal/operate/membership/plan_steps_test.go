// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// healthy is a cluster of n members whose StatefulSet was created with them.
func healthy(n int) *observation {
	s := &observation{ClusterState: membership.ClusterState{Replicas: n, InTemplate: true, Original: true, Observed: true, AllUpdated: true}}
	for at := range 6 {
		p := membership.Replica{Pod: fmt.Sprintf("main-%d", at), URL: fmt.Sprintf("http://main-%d:2380", at)}
		if at < n {
			p.UID, p.Updated, p.Claims = p.Pod, true, []string{"data-" + p.Pod}
			s.Members = append(s.Members, membership.Peer{ID: uint64(at + 1), URL: p.URL, Ordinal: at, Healthy: true, Leader: at == n-1})
			s.Bootstrap.URLs = append(s.Bootstrap.URLs, p.URL)
		}
		s.Ordinals = append(s.Ordinals, p)
	}
	return s
}

// TestPlanSteps: a plan has a line for each thing that the operation does, in its order.
func TestPlanSteps(t *testing.T) {
	t.Parallel()
	out := membership.Record{Operation: membership.ScaleOut, Target: 5, Replicas: 3}
	in := membership.Record{Operation: membership.ScaleIn, Target: 3, Replicas: 5}
	kept := in
	kept.KeepClaims = true
	replace := membership.Record{Operation: membership.Replace, Target: 3, Replicas: 3, Ordinal: 1, Member: 2, UID: "main-1", Claims: []string{"data-main-1"}}
	for _, row := range []struct {
		name   string
		size   int
		change func(*observation)
		record membership.Record
		want   string
	}{
		{"3 to 5", 3, nil, out, `hold back updates of pods below ordinal 3, then write initial-cluster with 4 members and state existing for main-3
add main-3 to etcd as a learner, set the replicas to 4
wait until main-3 is within 1000 entries of the leader, promote it
hold back updates of pods below ordinal 4, then write initial-cluster with 5 members and state existing for main-4
add main-4 to etcd as a learner, set the replicas to 5
wait until main-4 is within 1000 entries of the leader, promote it
mark the pods as up to date and restore the update strategy, so that none restarts`},
		{"3 to 5, by ConfigMap", 3, func(s *observation) { s.InTemplate = false }, out, `write initial-cluster with 4 members and state existing for main-3
add main-3 to etcd as a learner, set the replicas to 4
wait until main-3 is within 1000 entries of the leader, promote it
write initial-cluster with 5 members and state existing for main-4
add main-4 to etcd as a learner, set the replicas to 5
wait until main-4 is within 1000 entries of the leader, promote it`},
		{"5 to 3", 5, nil, in, `transfer leadership away from main-4 if it leads, remove it from etcd
set the replicas to 4, delete its volume claims
transfer leadership away from main-3 if it leads, remove it from etcd
set the replicas to 3, delete its volume claims`},
		{"5 to 3, claims stay", 5, nil, kept, `transfer leadership away from main-4 if it leads, remove it from etcd
set the replicas to 4, keep its volume claims
transfer leadership away from main-3 if it leads, remove it from etcd
set the replicas to 3, keep its volume claims`},
		{"replace", 3, nil, replace, `transfer leadership away from main-1 if it leads, remove member 0000000000000002 from etcd
set the update strategy to OnDelete, write initial-cluster with 3 members and state existing for main-1
add main-1 to etcd as a learner
delete the volume claims of main-1, then its pod
wait until main-1 is within 1000 entries of the leader, promote it
restore template and update strategy, so that no other pod restarts`},
		{"replace, dead, no claims", 3, func(s *observation) {
			s.Ordinals[1].Claims, s.Members[1].Healthy = nil, false
		}, replace, `transfer leadership away from main-1 if it leads, remove member 0000000000000002 from etcd
set the update strategy to OnDelete, write initial-cluster with 3 members and state existing for main-1
add main-1 to etcd as a learner
delete pod main-1
wait until main-1 is within 1000 entries of the leader, promote it
restore template and update strategy, so that no other pod restarts`},
		{"replace, no pod", 3, func(s *observation) { s.Ordinals[1].UID, s.OnDelete = "", true }, func() membership.Record {
			r := replace
			r.OnDelete, r.UID = true, ""
			return r
		}(), `transfer leadership away from main-1 if it leads, remove member 0000000000000002 from etcd
write initial-cluster with 3 members and state existing for main-1
add main-1 to etcd as a learner
delete the volume claims of main-1
wait until main-1 is within 1000 entries of the leader, promote it
restore template and update strategy, so that no other pod restarts`},
	} {
		s := healthy(row.size)
		if row.change != nil {
			row.change(s)
		}
		if got := strings.Join(planSteps(s, row.record), "\n"); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}
