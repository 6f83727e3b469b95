// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// newURL is the peer URL of a fourth member.
const newURL = "http://main-3.main-peer.team.svc:2380"

// fixture is a cluster of three members, and what a command has of it.
type fixture struct {
	*operatetest.Cluster

	reader *observe.Reader
	owner  owner.Owner
	// members are those that run, and survey is of when the plan was made. connect sets both.
	members *etcd.Cluster
	survey  etcd.Survey
}

// newFixture returns a healthy cluster, prepared before it is read.
func newFixture(t *testing.T, prepare func(*operatetest.Cluster)) *fixture {
	t.Helper()
	f := &fixture{Cluster: operatetest.NewCluster(t)}
	if prepare != nil {
		prepare(f.Cluster)
	}
	f.reader = &observe.Reader{Reader: f.Client(t), Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	var err error
	if f.owner, err = resolve.Target(t.Context(), f.reader, "team", owner.Target{Kind: "statefulset", Name: "main"}); err != nil {
		t.Fatal(err)
	}
	return f
}

// connect connects to the members that run.
func (f *fixture) connect(t *testing.T) {
	t.Helper()
	endpoints, err := access.Endpoints(t.Context(), f.reader, f.owner, access.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	members := &etcd.Cluster{Tunnel: tunnel.New(f.Config()), Endpoints: endpoints}
	t.Cleanup(func() { _ = members.Close() })
	f.members = members
}

// stop stops members, and connects to the others.
func (f *fixture) stop(t *testing.T, pods []string) {
	t.Helper()
	for _, pod := range pods {
		f.Etcd.Stop(pod)
	}
	f.connect(t)
}
