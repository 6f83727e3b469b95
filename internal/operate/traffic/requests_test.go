// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestMeasure: a client that dials a member by its own name is seen, whichever Service is cut,
// and neither the calls before nor the probes are taken for a client.
func TestMeasure(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		before, while func(ctx context.Context, kv pb.KVClient)
		own           OwnTraffic
		stopped       bool
		unusable      error
		want          []Requests
		err           string
	}{
		{name: "nothing comes"},
		{name: "20 writes a second", while: calls(100, 0), want: []Requests{{"KV/Put", 100, 5}}},
		{name: "one read", while: calls(0, 1), want: []Requests{{"KV/Range", 1, 5}}},
		{name: "reads and writes", while: calls(3, 2), want: []Requests{{"KV/Put", 3, 5}, {"KV/Range", 2, 5}}},
		{name: "only before it was counted", before: calls(50, 50)},
		{name: "a probe", while: calls(0, 1), own: probing(10)},
		{name: "more than the probe", while: calls(0, 3), own: probing(10), want: []Requests{{"KV/Range", 2, 5}}},
		{name: "writes beside a probe", while: calls(1, 1), own: probing(10), want: []Requests{{"KV/Put", 1, 5}}},
		{name: "no metrics", stopped: true, err: "connection refused"},
		{name: "no endpoint", unusable: errors.New("listens only at the pod's IP"), err: "listens only at the pod's IP"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			members, server := etcdtest.New(t, "main-0", "main-1"), apitest.New(t)
			server.Dial = members.Dial
			conn, err := grpc.NewClient("passthrough:main-0", grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return members.Dial("main-0", etcdtest.ClientPort) }))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			kv := pb.NewKVClient(conn)
			_, _ = kv.Range(t.Context(), &pb.RangeRequest{}) // a call that every member has counted
			if row.before != nil {
				row.before(t.Context(), kv)
			}
			if row.stopped {
				members.Stop("main-0")
			}
			c := &etcd.Cluster{Tunnel: tunnel.New(server.Config())}
			defer c.Close()
			for _, pod := range []string{"main-0", "main-1"} {
				c.Endpoints = append(c.Endpoints, access.Endpoint{Namespace: "team", Pod: pod, Port: etcdtest.ClientPort, MetricsPort: etcdtest.MetricsPort})
			}
			c.Endpoints[0].Err = row.unusable
			timer := &lateClock{HastyClock: &operatetest.HastyClock{Time: time.Unix(1, 0)}, then: func() {
				if row.while != nil {
					row.while(t.Context(), kv)
				}
			}}
			got := measure(t.Context(), c, timer, map[string]OwnTraffic{"main-0": row.own})
			if diff := cmp.Diff(row.want, got[0].Requests); diff != "" || len(got[1].Requests) > 0 {
				t.Errorf("main-1 has %v; main-0 (-want +got):\n%s", got[1].Requests, diff)
			}
			operatetest.WantError(t, got[0].Err, row.err)
			if residual := (Effect{OpenStreams: sum(got), Members: got}).Residual(); (residual == nil) != (len(row.want) == 0 && row.err == "") {
				t.Errorf("residual: %v", residual)
			}
		})
	}
}

// calls returns a client that makes calls. Etcd counts those that fail, too.
func calls(puts, ranges int) func(ctx context.Context, kv pb.KVClient) {
	return func(ctx context.Context, kv pb.KVClient) {
		for range puts {
			_, _ = kv.Put(ctx, &pb.PutRequest{})
		}
		for range ranges {
			_, _ = kv.Range(ctx, &pb.RangeRequest{})
		}
	}
}

// probing returns the traffic of a probe that runs etcdctl.
func probing(period int32) OwnTraffic {
	probe := &corev1.Probe{PeriodSeconds: period}
	probe.Exec = &corev1.ExecAction{Command: []string{"etcdctl", "endpoint", "health"}}
	return probeTraffic(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{ReadinessProbe: probe}}}})
}

func TestProbeTraffic(t *testing.T) {
	t.Parallel()
	file := &corev1.Probe{}
	file.Exec = &corev1.ExecAction{Command: []string{"cat", "/ready"}}
	get := &corev1.Probe{}
	get.HTTPGet = &corev1.HTTPGetAction{Path: "/health"}
	for _, probe := range []*corev1.Probe{nil, file, get} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{LivenessProbe: probe}}}}
		if own := probeTraffic(pod); len(own.Every) > 0 {
			t.Errorf("%+v makes requests: %v", probe, own.Every)
		}
	}
	if n := probing(10).requests("KV/Range", 5*time.Second); n != 1 {
		t.Errorf("a probe every 10s makes %d requests in 5s", n)
	}
	if n := probing(10).requests("KV/Put", 5*time.Second); n != 0 {
		t.Errorf("a probe makes %d writes", n)
	}
	var druid OwnTraffic
	druidTraffic(&druid)
	if put, status := druid.requests("KV/Put", time.Hour), druid.requests("Maintenance/Status", time.Second); put != 0 || status < 1000 {
		t.Errorf("druid makes %d writes and asks for status %d times", put, status)
	}
}

// TestV2: requests and watches of API v2, which etcd before 3.6 may serve, have counters of their own. They move neither a
// counter of gRPC nor the revision.
func TestV2(t *testing.T) {
	t.Parallel()
	metrics := func(text string) metricFamilies {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return families
	}
	const (
		puts     = "# TYPE etcd_http_received_total counter\netcd_http_received_total{method=\"PUT\"} "
		gets     = "etcd_http_received_total{method=\"QGET\"} "
		watches  = "# TYPE etcd_debugging_store_watch_requests_total counter\netcd_debugging_store_watch_requests_total "
		watchers = "# TYPE etcd_debugging_store_watchers gauge\netcd_debugging_store_watchers "
	)
	for _, row := range []struct {
		id, before, after string
		want              []Requests
		open              []OpenStreams
	}{
		{id: "V2-1 no metric of v2"},
		{id: "V2-2 nothing comes", before: puts + "5\n" + watches + "2\n" + watchers + "0\n", after: puts + "5\n" + watches + "2\n" + watchers + "0\n"},
		{id: "V2-3 writes", before: puts + "5\n", after: puts + "12\n", want: []Requests{{"v2/PUT", 7, 5}}},
		{id: "V2-4 the first ones", after: puts + "3\n" + gets + "1\n", want: []Requests{{"v2/PUT", 3, 5}, {"v2/QGET", 1, 5}}},
		{id: "V2-5 the member restarted", before: puts + "5\n", after: puts + "2\n", want: []Requests{{"v2/PUT", 2, 5}}},
		{id: "V2-6 a watch that polls", before: watches + "2\n", after: watches + "4\n", want: []Requests{{"v2/watch", 2, 5}}},
		{id: "V2-8 a watch that polls, and a read", before: puts + "5\n" + watches + "2\n", after: puts + "5\n" + gets + "1\n" + watches + "3\n",
			want: []Requests{{"v2/QGET", 1, 5}, {"v2/watch", 1, 5}}},
		{id: "V2-7 a watch that is open", before: watches + "2\n" + watchers + "1\n", after: watches + "2\n" + watchers + "1\n", open: []OpenStreams{{"v2/watch", 1}}},
	} {
		got := requests(metrics(row.before), metrics(row.after), OwnTraffic{}, 5*time.Second, 5)
		if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.id, diff)
		}
		if diff := cmp.Diff(row.open, openStreams(metrics(row.after), nil), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, open (-want +got):\n%s", row.id, diff)
		}
	}
}

// TestUncounted: the growth of the revision shows writes that no counter of requests has.
func TestUncounted(t *testing.T) {
	t.Parallel()
	metrics := func(revision, expired, puts string) reading {
		text := "# TYPE etcd_debugging_mvcc_current_revision gauge\netcd_debugging_mvcc_current_revision " + revision +
			"\n# TYPE etcd_server_lease_expired_total counter\netcd_server_lease_expired_total " + expired +
			"\n# TYPE grpc_server_handled_total counter\n" +
			`grpc_server_handled_total{grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary",grpc_code="OK"} ` + puts + "\n"
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return reading{families: families}
	}
	for _, row := range []struct {
		name          string
		before, after reading
		want          []Requests
	}{
		{"nothing grows", metrics("7", "0", "5"), metrics("7", "0", "5"), nil},
		{"the revision grows", metrics("7", "0", "5"), metrics("17", "0", "5"), []Requests{{revisionGrowth, 10, 5}}},
		{"a lease expired", metrics("7", "0", "5"), metrics("17", "1", "5"), nil},
		{"requests are counted", metrics("7", "0", "5"), metrics("17", "0", "15"), []Requests{{"KV/Put", 10, 5}}},
		{"the member restarted", metrics("7", "0", "50"), metrics("7", "0", "3"), []Requests{{"KV/Put", 3, 5}}},
	} {
		got := []MemberStreams{{Requests: requests(row.before.families, row.after.families, OwnTraffic{}, 5*time.Second, 5)}}
		addUncounted(got, []reading{row.before}, []reading{row.after}, 5)
		if diff := cmp.Diff(row.want, got[0].Requests, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}
