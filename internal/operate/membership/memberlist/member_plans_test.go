// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestMemberPlans: what is decided about one member of the list.
func TestMemberPlans(t *testing.T) {
	t.Parallel()
	learner := func(c *operatetest.Cluster) { c.Etcd.Members[2].IsLearner = true }
	add := func(url string) func(context.Context, *etcd.Cluster, *fixture) (operate.Plan, error) {
		return func(ctx context.Context, c *etcd.Cluster, f *fixture) (operate.Plan, error) {
			_, plan, err := PlanAdd(ctx, c, f.owner, []string{url})
			return plan, err
		}
	}
	promote := func(word string) func(context.Context, *etcd.Cluster, *fixture) (operate.Plan, error) {
		return func(ctx context.Context, c *etcd.Cluster, f *fixture) (operate.Plan, error) {
			_, plan, err := PlanPromote(ctx, c, f.owner, word)
			return plan, err
		}
	}
	scaledIn := func(c *operatetest.Cluster) {
		sts := c.Get(operatetest.Path("StatefulSet", "main"))
		operatetest.Field(sts, "spec")["replicas"] = 2
		c.Put(operatetest.Path("StatefulSet", "main"), sts)
		c.Reconcile(t)
	}
	remove := func(word string) func(context.Context, *etcd.Cluster, *fixture) (operate.Plan, error) {
		return func(ctx context.Context, c *etcd.Cluster, f *fixture) (operate.Plan, error) {
			_, plan, err := Removal{Reader: f.reader, Owner: f.owner, Members: c, Clock: &operatetest.HastyClock{}}.Plan(ctx, word)
			return plan, err
		}
	}
	for _, row := range []struct {
		name string
		set  func(*operatetest.Cluster)
		plan func(context.Context, *etcd.Cluster, *fixture) (operate.Plan, error)
		want string
	}{
		{"add", nil, add("http://new:2380"), "add a learner at http://new:2380"},
		{"add a URL that a member has", nil, add("http://main-0.main-peer.team.svc:2380"), "cannot add a member at http://main-0.main-peer.team.svc:2380: member main-0"},
		{"add beside a learner", learner, add("http://new:2380"), "cannot add a member to StatefulSet team/main: "},
		{"add while a member is down", func(c *operatetest.Cluster) { c.Etcd.Stop("main-1") }, add("http://new:2380"), "cannot add a member to StatefulSet team/main: "},
		{"promote", learner, promote("main-2"), "promote member main-2"},
		{"promote a voter", nil, promote("main-2"), "Member main-2"},
		{"promote an unknown pod", nil, promote("main-7"), `etcd has no member "main-7"`},
		{"remove a learner", learner, remove("main-2"), "remove main-2"},
		{"remove a voter that was scaled away with its claim", scaledIn, remove("main-2"), "cannot remove main-2 0000000000000003: statefulset/main has no replica for it, and runs it again with its data when it is scaled to 3. To bring it back: kubectl scale statefulset/main -n team --replicas 3."},
		{"remove a voter that was scaled away, and its claim is gone", func(c *operatetest.Cluster) {
			scaledIn(c)
			c.Remove(operatetest.Path("PersistentVolumeClaim", "data-main-2"))
		}, remove("main-2"), "cannot remove main-2 0000000000000003: it is not known whether it is dead"},
		{"remove a healthy voter", nil, remove("main-2"), "cannot remove main-2 0000000000000003: it is healthy."},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newFixture(t, row.set)
			members := &etcd.Cluster{Tunnel: tunnel.New(c.Config())}
			t.Cleanup(func() { _ = members.Close() })
			for _, pod := range []string{"main-0", "main-1", "main-2"} {
				if c.Get(operatetest.Path("Pod", pod)) == nil {
					continue
				}
				members.Endpoints = append(members.Endpoints, access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort, MetricsPort: etcdtest.MetricsPort})
			}
			plan, err := row.plan(t.Context(), members, c)
			got := plan.Title + plan.Already
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
