// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// besideAPod is a StatefulSet of two, and a pod that nothing makes and that has the third member. Their lists don't
// join them: the StatefulSet may get a pod of that name.
func besideAPod(t *testing.T) *operatetest.Cluster {
	t.Helper()
	c := operatetest.NewCluster(t)
	sts := c.Get(operatetest.Path("StatefulSet", "main"))
	operatetest.Field(sts, "spec")["replicas"] = 2
	for _, field := range []string{"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"} {
		operatetest.Field(sts, "status")[field] = 2
	}
	c.Put(operatetest.Path("StatefulSet", "main"), sts)
	pod := c.Get(operatetest.Path("Pod", "main-2"))
	delete(operatetest.Field(pod, "metadata"), "ownerReferences")
	operatetest.Field(pod, "metadata")["labels"] = map[string]any{}
	c.Put(operatetest.Path("Pod", "main-2"), pod)
	return c
}

// TestTargetsOfOneCluster: status shows the same cluster by each of its workloads, whichever has the leader.
func TestTargetsOfOneCluster(t *testing.T) {
	t.Parallel()
	for _, leader := range []uint64{1, 3} {
		for _, target := range []owner.Target{{Kind: "statefulset", Name: "main"}, {Kind: "pod", Name: "main-2"}} {
			c := besideAPod(t)
			c.Etcd.Leader = leader
			v := observerOf(t, c, target)
			for range 2 { // the second time with the connections of the first
				f, err := v.Observe(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				q := f.Quorum()
				if q.Voters != 3 || q.Healthy != 3 || q.Unknown != 0 || f.Desired() != 3 || len(f.Elsewhere) != 3-len(f.Pods.Value) {
					t.Errorf("%s, %d leads: %+v, %d desired, %d pods elsewhere", target, leader, q, f.Desired(), len(f.Elsewhere))
				}
				if d := recovery.Diagnose(f.Recovery()); d.Scenarios[0].Reason != recovery.PinkOfHealth {
					t.Errorf("%s, %d leads: %s", target, leader, d.Scenarios[0].Title)
				}
				for id, s := range f.Silences { // so that the contact, which takes seconds, is not measured
					if s.Contact != rules.ContactAnswers {
						t.Errorf("%s, %d leads: %016x is %+v", target, leader, id, s)
					}
				}
			}
		}
	}
}

// TestPodElsewhereReturns: a pod of another workload is found when it is there, although the connections with the
// members of this one are kept.
func TestPodElsewhereReturns(t *testing.T) {
	t.Parallel()
	c := besideAPod(t)
	pod := c.Get(operatetest.Path("Pod", "main-2"))
	c.Remove(operatetest.Path("Pod", "main-2"))
	v := observerOf(t, c, owner.Target{Kind: "statefulset", Name: "main"})
	for _, want := range []int{2, 3} {
		f, err := v.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if q := f.Quorum(); q.Healthy != want || len(f.Elsewhere) != want-2 {
			t.Errorf("%+v with %d pods elsewhere, want %d healthy", q, len(f.Elsewhere), want)
		}
		c.Put(operatetest.Path("Pod", "main-2"), pod)
	}
}

func observerOf(t *testing.T, c *operatetest.Cluster, target owner.Target) *Observer {
	t.Helper()
	v := NewObserver(Source{
		Reader: &observe.Reader{Reader: c.Client(t), Leases: &leaseclock.Clock{Clock: clock.RealClock{}}},
		Access: etcd.Access{Tunnel: tunnel.New(c.Config())}, Config: c.Config(), Clock: clock.RealClock{},
	}, "team", target)
	t.Cleanup(v.Close)
	return v
}
