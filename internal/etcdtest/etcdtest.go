// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest is an etcd cluster in memory, for tests of which calls are made in which
// order. Its members answer over gRPC as etcd does, without raft: a call that changes the
// cluster changes the state that they share. That a change works is shown on a real cluster.
// Only tests import it.
package etcdtest

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
)

// The ports of each member.
const (
	ClientPort  = 2379
	MetricsPort = 2381
)

// Cluster is the state that the members share. Tests change its fields before the first call.
type Cluster struct {
	// Members has the member list. The pod of a member is its name.
	Members []*pb.Member
	// Leader is the ID of the leader, 0 for none.
	Leader uint64
	// QuorumLost has reads fail that need a quorum.
	QuorumLost bool
	Alarms     []*pb.AlarmMember
	// KeepAlarms has each alarm raised again as soon as it is disarmed.
	KeepAlarms bool
	// Size and InUse are those of each database, in bytes.
	Size, InUse int64
	// Reached are the pods whose members the metrics of each other member show as connected and sending.
	// Nil leaves connections out of the metrics.
	Reached []string
	// Forced is the pod of a member that was started with --force-new-cluster: it leads a cluster of its own with the
	// same cluster ID. It is empty for none.
	Forced string
	// Odd is the pod of the member whose data differ from those of all others, empty for none.
	Odd string
	// Database is what a snapshot contains, as Database returns it. Members without one have no snapshots.
	Database []byte
	// Auth enables authentication. NoUser has each call that needs a user refused with it.
	Auth   bool
	NoUser error
	// Fail returns the error of a call, nil for none. It is called before anything is done.
	Fail func(call string) error

	mu     sync.Mutex
	behind bool
	// scrapes counts the readings of metrics, by which received bytes grow.
	scrapes int
	writes  []string
	added   uint64
	conns   map[string]*bufconn.Listener
	// stops has how each running member is stopped, by pod.
	stops map[string]func()
}

// New returns a cluster with a voter for each pod. The first one leads.
func New(t *testing.T, pods ...string) *Cluster {
	t.Helper()
	c := &Cluster{Leader: 1, Size: 200 << 20, InUse: 20 << 20, conns: map[string]*bufconn.Listener{}, stops: map[string]func(){}}
	for i, pod := range pods {
		m := &pb.Member{ID: uint64(i + 1), Name: pod, PeerURLs: []string{"http://" + pod + ".main-peer.team.svc:2380"}}
		c.Members = append(c.Members, m)
		c.run(t, m)
	}
	return c
}

// Start runs the member of a pod, if the member list has one with a peer URL of the pod.
func (c *Cluster) Start(t *testing.T, pod string) {
	t.Helper()
	c.mu.Lock()
	at := slices.IndexFunc(c.Members, func(m *pb.Member) bool { return strings.Contains(m.PeerURLs[0], "://"+pod+".") })
	if at < 0 {
		c.mu.Unlock()
		return
	}
	m := c.Members[at]
	m.Name = pod
	c.mu.Unlock()
	c.run(t, m)
}

// run starts a member. It stops with the test.
func (c *Cluster) run(t *testing.T, m *pb.Member) {
	t.Helper()
	var calls counter
	server, s := grpc.NewServer(grpc.UnaryInterceptor(calls.unary)), &member{cluster: c, id: m.ID}
	pb.RegisterMaintenanceServer(server, s)
	pb.RegisterClusterServer(server, s)
	pb.RegisterKVServer(server, s)
	pb.RegisterLeaseServer(server, s)
	pb.RegisterAuthServer(server, &users{cluster: c})
	listener := bufconn.Listen(1 << 20)
	go server.Serve(listener) //nolint:errcheck // ends with the test
	metrics := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.serveMetrics(w, r)
		c.servePeers(w, m.ID)
	}), ReadHeaderTimeout: time.Minute}
	scraped := bufconn.Listen(1 << 20)
	go metrics.Serve(scraped) //nolint:errcheck // ends with the test
	stop := func() {
		server.Stop()
		_ = metrics.Close()
	}
	t.Cleanup(stop)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stops[m.Name] = stop
	c.conns[port(m.Name, ClientPort)], c.conns[port(m.Name, MetricsPort)] = listener, scraped
}

// Stop has the member of a pod answer no call any more, also on the connections that it has.
func (c *Cluster) Stop(pod string) {
	c.mu.Lock()
	stop := c.stops[pod]
	delete(c.stops, pod)
	delete(c.conns, port(pod, ClientPort))
	delete(c.conns, port(pod, MetricsPort))
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Dial connects to a port of a pod, as apitest.Server's Dial.
func (c *Cluster) Dial(pod string, number int) (net.Conn, error) {
	c.mu.Lock()
	listener := c.conns[port(pod, number)]
	c.mu.Unlock()
	if listener == nil {
		return nil, fmt.Errorf("dial %s: connection refused", port(pod, number))
	}
	return listener.Dial()
}

// Lag sets whether learners stay far behind the leader.
func (c *Cluster) Lag(behind bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.behind = behind
}

// Replace removes the member of a pod, if it has one, and adds a voter for it, as etcd-druid's
// sidecar does. Start runs it.
func (c *Cluster) Replace(pod string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Members = slices.DeleteFunc(slices.Clone(c.Members), func(m *pb.Member) bool { return m.Name == pod })
	c.added++
	c.Members = append(c.Members, &pb.Member{ID: 100 + c.added, Name: pod, PeerURLs: []string{"http://" + pod + ".main-peer.team.svc:2380"}})
}

// Learner reports whether a member is a learner.
func (c *Cluster) Learner() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.Members, func(m *pb.Member) bool { return m.IsLearner })
}

// Writes returns the calls that changed something, in their order.
func (c *Cluster) Writes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.writes)
}

func port(pod string, number int) string { return fmt.Sprintf("%s:%d", pod, number) }
