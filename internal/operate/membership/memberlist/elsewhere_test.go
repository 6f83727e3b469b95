// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestPeersElsewhere: a voter counts by what it answers, in whichever pod, and a leader by those that follow it.
func TestPeersElsewhere(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, StatefulSet: "main", Replicas: 2}
	list := []etcd.Listed{{ID: 1, Pod: "main-0"}, {ID: 2, Pod: "main-1"}, {ID: 3, Name: "b-0"}}
	own := func(leader uint64) []etcd.Member {
		return []etcd.Member{{Pod: "main-0", ID: 1, LeaderID: leader, Leader: leader == 1}, {Pod: "main-1", ID: 2, LeaderID: leader, Leader: leader == 2}}
	}
	for _, row := range []struct {
		name    string
		s       etcd.Survey
		healthy int
		leader  uint64
	}{
		{"all answer", etcd.Survey{List: list, Members: own(1), Others: []etcd.Member{{Pod: "b-0", ID: 3, LeaderID: 1}}}, 3, 1},
		{"the leader is elsewhere", etcd.Survey{List: list, Members: own(3), Others: []etcd.Member{{Pod: "b-0", ID: 3, LeaderID: 3, Leader: true}}}, 3, 3},
		{"the leader can't be asked", etcd.Survey{List: list, Members: own(3)}, 3, 3},
		{"one elsewhere can't be asked", etcd.Survey{List: list, Members: own(2)}, 2, 2},
		{"no leader", etcd.Survey{List: list, Members: own(0)}, 0, 0},
		{"no leader, and the one elsewhere answers", etcd.Survey{List: list, Members: own(0), Others: []etcd.Member{{Pod: "b-0", ID: 3}}}, 0, 0},
		{"an old leader after a partition", etcd.Survey{List: list, Members: []etcd.Member{own(1)[0], own(3)[1]}, Others: []etcd.Member{{Pod: "b-0", ID: 3, LeaderID: 3, Leader: true}}}, 2, 3},
	} {
		peers := Peers(o, row.s)
		_, healthy := membership.Votes(peers)
		leads := uint64(0)
		for _, p := range peers {
			if p.Leader {
				leads = p.ID
			}
		}
		if healthy != row.healthy || leads != row.leader || peers[2].Ordinal != -1 {
			t.Errorf("%s: %+v", row.name, peers)
		}
	}
}

// TestRemoveBesideOtherWorkloads has a cluster of three of which Kubernetes shows two pods as the cluster's. Another
// workload runs the third member. The numbers are etcd's.
func TestRemoveBesideOtherWorkloads(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		leader uint64
		stop   string
		remove string
		alone  bool // other pods are not asked
		want   string
		writes []string
	}{
		{name: "a dead one, and the other answers", leader: 1, stop: "main-1", remove: "main-1", want: "2 of 2 voters stay healthy, quorum is 2", writes: []string{"remove 2"}},
		{name: "a dead one, and the other leads", leader: 3, stop: "main-1", remove: "main-1", want: "2 of 2 voters stay healthy, quorum is 2", writes: []string{"remove 2"}},
		{name: "a dead one, and the other is not asked", leader: 1, stop: "main-1", remove: "main-1", alone: true, want: "1 of 3 voters healthy, quorum is 2"},
		{name: "the other, which answers", leader: 1, remove: "main-2", want: "it is alive: it answers in pod main-2. To remove it for good, stop its etcd first"},
		{name: "the other, which leads", leader: 3, remove: "main-2", want: "it is alive: it answers in pod main-2. To remove it for good, stop its etcd first"},
		{name: "the other, which leads and is not asked", leader: 3, remove: "main-2", alone: true, want: "it is alive: it is the leader of the members that answer. To remove it for good"},
		{name: "the other, which is down", leader: 1, stop: "main-2", remove: "main-2", want: "it can still run: its name or peer address is that of pod main-2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newFixture(t, nil)
			c.Etcd.Leader, c.Etcd.Reached = row.leader, slices.DeleteFunc([]string{"main-0", "main-1", "main-2"}, func(pod string) bool { return pod == row.stop })
			c.owner.Replicas = 2
			members := &etcd.Cluster{Tunnel: tunnel.New(c.Config())}
			t.Cleanup(func() { _ = members.Close() })
			for _, pod := range []string{"main-0", "main-1"} {
				members.Endpoints = append(members.Endpoints, access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort, MetricsPort: etcdtest.MetricsPort})
			}
			if !row.alone {
				members.Beyond = etcd.Access{}.Beyond(c.reader, c.owner)
			}
			if row.stop != "" {
				c.Etcd.Stop(row.stop)
			}
			r := Removal{Reader: c.reader, Owner: c.owner, Members: members, Clock: &operatetest.HastyClock{}, Force: true}
			l, plan, err := r.Plan(t.Context(), row.remove)
			got := strings.Join(plan.Facts, "; ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, row.want) || (err == nil) != (row.writes != nil) {
				t.Fatalf("got %q, want %q", got, row.want)
			}
			if err == nil {
				err = r.Remove(t.Context(), l, func() error { return nil })
			}
			if writes := c.Etcd.Writes(); err != nil && row.writes != nil || !slices.Equal(writes, row.writes) {
				t.Errorf("wrote %q, %v, want %q", writes, err, row.writes)
			}
		})
	}
}

// TestVolumesUnread: where volume claims can't be read, a user who removes a voter learns that they may have shown data
// from before.
func TestVolumesUnread(t *testing.T) {
	t.Parallel()
	for _, unread := range []bool{false, true} {
		c := newFixture(t, nil)
		c.Etcd.Leader, c.Etcd.Reached = 1, []string{"main-0", "main-1"}
		c.stop(t, []string{"main-2"})
		c.Refuse = func(_, path string) int {
			if unread && strings.Contains(path, "/persistentvolumeclaims") {
				return http.StatusForbidden
			}
			return 0
		}
		r := Removal{Reader: c.reader, Owner: c.owner, Members: c.members, Clock: &operatetest.HastyClock{}, Force: true}
		_, plan, err := r.Plan(t.Context(), "main-2")
		if warned := strings.Contains(strings.Join(plan.Warnings, " "), "It is not known whether main-2 0000000000000003 may have earlier data"); err != nil || warned != unread {
			t.Errorf("unread %t: %v, %q", unread, err, plan.Warnings)
		}
	}
}

// TestForcedNewCluster: two clusters with one cluster ID are not one, whichever of them answers first.
func TestForcedNewCluster(t *testing.T) {
	t.Parallel()
	c := newFixture(t, nil)
	c.Etcd.Forced = "main-2"
	members := &etcd.Cluster{Tunnel: tunnel.New(c.Config())}
	t.Cleanup(func() { _ = members.Close() })
	for _, pod := range []string{"main-0", "main-1", "main-2"} {
		members.Endpoints = append(members.Endpoints, access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort, MetricsPort: etcdtest.MetricsPort})
	}
	const want = "split brain: the members belong to 2 etcd clusters with one cluster ID: main-0, main-1 led by 0000000000000001; main-2 led by 0000000000000003"
	for range 10 {
		if s, err := members.Survey(t.Context()); err == nil || err.Error() != want || len(s.Apart) != 2 || len(s.List) > 0 {
			t.Fatalf("%v, %+v, want %s", err, s, want)
		}
	}
	r := Removal{Reader: c.reader, Owner: c.owner, Members: members, Clock: &operatetest.HastyClock{}, Force: true}
	if _, _, err := r.Plan(t.Context(), "main-0"); err == nil || err.Error() != want {
		t.Errorf("a removal: %v, want %s", err, want)
	}
}

// TestPasswordElsewhere: a pod that has the name of a member does not get the password of the user.
func TestPasswordElsewhere(t *testing.T) {
	t.Parallel()
	c := newFixture(t, nil)
	given := access.Credentials{User: "root:secret", UserSecret: "team/root", Note: func(text string) { t.Errorf("noted %q", text) }}
	endpoints, err := etcd.Access{Credentials: given}.Beyond(c.reader, c.owner)(t.Context(), etcd.Listed{ID: 3, Name: "main-2"}, nil)
	if err != nil || len(endpoints) != 1 || endpoints[0].Pod != "main-2" || endpoints[0].Err != nil || endpoints[0].Username != "" {
		t.Errorf("%+v, %v", endpoints, err)
	}
}

// TestPromoteElsewhere: a learner of another workload is promoted if its pod answers.
func TestPromoteElsewhere(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{true, false} {
		c := newFixture(t, nil)
		c.Etcd.Members[2].IsLearner = true
		c.owner.Replicas = 2
		members := &etcd.Cluster{Tunnel: tunnel.New(c.Config())}
		t.Cleanup(func() { _ = members.Close() })
		for _, pod := range []string{"main-0", "main-1"} {
			members.Endpoints = append(members.Endpoints, access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort})
		}
		if asked {
			members.Beyond = etcd.Access{}.Beyond(c.reader, c.owner)
		}
		l, plan, err := PlanPromote(t.Context(), members, c.owner, "main-2")
		if (err == nil) != asked || asked != strings.HasPrefix(plan.Title, "promote member main-2") {
			t.Errorf("asked %t: %q, %v", asked, plan.Title, err)
		}
		s, err := members.Survey(t.Context())
		if behind, known := Behind(s, l); err != nil || known != asked || behind != 0 {
			t.Errorf("asked %t: %d entries behind, known %t, %v", asked, behind, known, err)
		}
	}
}

// TestImpostors: a pod that has the name of a member, and answers as another one, does not count.
func TestImpostors(t *testing.T) {
	t.Parallel()
	c := newFixture(t, nil)
	members := &etcd.Cluster{Tunnel: tunnel.New(c.Config())}
	t.Cleanup(func() { _ = members.Close() })
	endpoint := func(pod string) access.Endpoint {
		return access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort}
	}
	members.Endpoints = []access.Endpoint{endpoint("main-0")}
	members.Beyond = func(context.Context, etcd.Listed, map[string]bool) ([]access.Endpoint, error) {
		return []access.Endpoint{endpoint("main-2")}, nil // for main-1, too
	}
	s, err := members.Survey(t.Context())
	if _, counts := s.Other(2); err != nil || counts || len(s.Others) != 1 {
		t.Errorf("%+v, %v", s.Others, err)
	}
}
