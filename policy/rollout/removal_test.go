// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/internal/policytest"
)

func clusterWith(members string, change func(*policy.Cluster)) policy.Cluster {
	c := policytest.ClusterOf(members)
	c.Operation = "rollout, 1 of 3 members updated"
	if change != nil {
		change(&c)
	}
	return c
}

var removalRows = []struct {
	row     string
	removal Removal
	// want is a part of why it stays held, empty if it is released.
	want string
}{
	{"O-18 stopped", Removal{Stopped: true, Unread: "forbidden"}, ""},
	{"O-18 runs no etcd", Removal{NotEtcd: true}, ""},
	{"O-19 unread", Removal{Unread: "forbidden", Cluster: clusterWith("vvv", nil)}, "can't be read: forbidden"},
	{"O-19 nothing known", Removal{}, "nothing is known"},
	{"O-19 others unknown", Removal{Cluster: clusterWith("v", func(c *policy.Cluster) { c.SizeUnknown = "no list" })}, "which other members"},
	{"O-20 one member, down", Removal{Cluster: clusterWith("x", nil)}, ""},
	{"O-20 one of three, the others lost", Removal{Cluster: clusterWith("v--", nil)}, "2 missing"},
	{"O-21 a member is down", Removal{Cluster: clusterWith("vxv", nil)}, "2 of 3 members ready: main-1 is not"},
	{"O-21 only a pod is not Ready", Removal{Cluster: clusterWith("vmv", nil)}, "main-1 is not"},
	{"O-21 only a member is not ready", Removal{Cluster: clusterWith("vpv", nil)}, "main-1 is not"},
	{"O-21 a member is missing", Removal{Cluster: clusterWith("vv-", nil)}, "1 missing"},
	{"O-21 a learner", Removal{Cluster: clusterWith("vvV", nil)}, "learner"},
	{"O-21 stale", Removal{Cluster: clusterWith("vvv", func(c *policy.Cluster) { c.Stale = true })}, "unknown"},
	{"O-21 client traffic is cut", Removal{Cluster: clusterWith("vvv", func(c *policy.Cluster) { c.TrafficCut = true })}, "can't rejoin"},
	{"O-21 backups fail", Removal{Cluster: clusterWith("vvv", func(c *policy.Cluster) { c.BackupReady.Status = policy.False })}, "BackupReady is False"},
	{"O-28 a member hangs, of which its pod shows nothing", Removal{Recorded: "MemberNotReady", Cluster: clusterWith("vvv", nil)}, "recorded last that not all of its members are in order (MemberNotReady)"},
	{"O-28 leases of unknown age", Removal{Unconfirmed: true, Cluster: clusterWith("vvv", nil)}, "not known yet"},
	{"O-28 and the peers move", Removal{Recorded: "MemberDown", PeersMove: true, Cluster: clusterWith("vvv", nil)}, "recorded last"},
	{"O-20 one member, which hung", Removal{Recorded: "MemberNotReady", Unconfirmed: true, Cluster: clusterWith("v", nil)}, ""},
	{"O-24 the peers move", Removal{PeersMove: true, Cluster: clusterWith("vvv", nil)}, "restart all members at once: kubectl etcd restart"},
	{"O-24 the peers move, in several StatefulSets", Removal{PeersMove: true, InParts: true, Cluster: clusterWith("vvv", nil)}, "restore the previous scheme and port"},
	{"O-21 a member is down, and the peers move", Removal{PeersMove: true, Cluster: clusterWith("vxv", nil)}, "main-1 is not"},
	{"O-20 one member, and the peers move", Removal{PeersMove: true, Cluster: clusterWith("v", nil)}, ""},
	{"O-25 another StatefulSet is the first", Removal{First: "north", Cluster: clusterWith("vvv", nil)}, "beside those of StatefulSet north"},
	{"O-21 a member is down, and another StatefulSet is the first", Removal{First: "north", Cluster: clusterWith("vxv", nil)}, "main-1 is not"},
	{"O-22 well", Removal{Cluster: clusterWith("vvv", nil)}, ""},
}

func TestRemovalRows(t *testing.T) {
	t.Parallel()
	for _, r := range removalRows {
		t.Run(r.row, func(t *testing.T) {
			t.Parallel()
			if got := r.removal.StaysHeld(); (got == "") != (r.want == "") || !strings.Contains(got, r.want) {
				t.Errorf("%q, want %q", got, r.want)
			}
		})
	}
}
