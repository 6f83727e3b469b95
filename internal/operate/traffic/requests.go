// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// measureTime is for how long requests are counted. This command makes none in that time: it
// reads metrics by HTTP, which no counter of gRPC contains.
const measureTime = 5 * time.Second

// revisionGrowth is the method under which writes are reported that no counter of requests shows.
const revisionGrowth = "writes (growth of the revision)"

// Metrics of etcd.
const (
	startedCalls   = "grpc_server_started_total"
	handledCalls   = "grpc_server_handled_total"
	storeRevision  = "etcd_debugging_mvcc_current_revision"
	expiredLeases  = "etcd_server_lease_expired_total"
	unaryCallsType = "unary"
)

// Requests are the unary requests of one gRPC method, or of one method of API v2, to a member while they were counted.
type Requests struct {
	// Method is Service/Method without the package: KV/Put, KV/Range. Of API v2 it is v2/PUT and the like.
	Method  string
	AtLeast int
	Seconds int
}

// metricFamilies are the metrics of a member by their names.
type metricFamilies map[string]*dto.MetricFamily

// measure reads from all members which streams are open, and counts for a few seconds which
// unary requests still arrive. own is the traffic of the cluster
// itself, by pod.
func measure(ctx context.Context, c *etcd.Cluster, timer clock.Clock, own map[string]OwnTraffic) []MemberStreams {
	before, began := readMetrics(ctx, c), timer.Now()
	select {
	case <-ctx.Done():
	case <-timer.After(measureTime):
	}
	after, lasted := readMetrics(ctx, c), timer.Since(began)
	seconds := max(1, int(math.Round(lasted.Seconds())))
	out := make([]MemberStreams, len(after))
	for i := range after {
		out[i].Pod = c.Endpoints[i].Pod
		if out[i].Err = cmp.Or(before[i].err, after[i].err); out[i].Err != nil {
			continue
		}
		o := own[out[i].Pod]
		out[i].Open = openStreams(after[i].families, o.Streams)
		out[i].Requests = requests(before[i].families, after[i].families, o, lasted, seconds)
	}
	addUncounted(out, before, after, seconds)
	return out
}

// reading is the metrics of one member at one time.
type reading struct {
	families metricFamilies
	err      error
}

var errNotCounted = errors.New("its metrics don't count requests (" + handledCalls + ")")

func readMetrics(ctx context.Context, c *etcd.Cluster) []reading {
	out := make([]reading, len(c.Endpoints))
	var reads sync.WaitGroup
	for i, e := range c.Endpoints {
		reads.Go(func() {
			families, err := c.Metrics(ctx, e.Pod)
			if err == nil && families[startedCalls] == nil && families[handledCalls] == nil {
				err = errNotCounted
			}
			out[i] = reading{families, err}
		})
	}
	reads.Wait()
	return out
}

// requests returns the unary requests that came to a member between two readings, without those
// of the cluster itself. A request can hang, so those that began count, not only those that ended.
func requests(before, after metricFamilies, own OwnTraffic, lasted time.Duration, seconds int) []Requests {
	came := map[string]int{}
	count := func(was, is map[string]int) {
		for method, n := range is {
			if n >= was[method] { // otherwise the member has restarted
				n -= was[method]
			}
			came[method] = max(came[method], n)
		}
	}
	for _, counter := range []string{startedCalls, handledCalls} {
		count(unaryCalls(before[counter]), unaryCalls(after[counter]))
	}
	count(v2Calls(before), v2Calls(after))
	var out []Requests
	for method, n := range came {
		if n -= own.requests(method, lasted); n > 0 {
			out = append(out, Requests{Method: method, AtLeast: n, Seconds: seconds})
		}
	}
	slices.SortFunc(out, func(a, b Requests) int { return cmp.Compare(a.Method, b.Method) })
	return out
}

// unaryCalls returns the number of unary calls that a counter has, by method.
func unaryCalls(counter *dto.MetricFamily) map[string]int {
	out := map[string]int{}
	for _, m := range counter.GetMetric() {
		if method, kind := methodOf(m); kind == unaryCallsType {
			out[method] += int(m.GetCounter().GetValue() + m.GetUntyped().GetValue())
		}
	}
	return out
}

// methodOf returns a metric's gRPC method and its type.
func methodOf(m *dto.Metric) (method, kind string) {
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return shortService(labels["grpc_service"]) + "/" + labels["grpc_method"], labels["grpc_type"]
}

// addUncounted adds the growth of the revision to the first member that shows it, if no member
// counts a request. A lease that expired deletes its keys without any client.
func addUncounted(members []MemberStreams, before, after []reading, seconds int) {
	grown, at := 0, -1
	for i := range members {
		if members[i].Err != nil {
			continue
		}
		if len(members[i].Requests) > 0 || grew(before[i], after[i], expiredLeases) > 0 {
			return
		}
		if n := grew(before[i], after[i], storeRevision); n > grown {
			grown, at = n, i
		}
	}
	if at >= 0 {
		members[at].Requests = []Requests{{Method: revisionGrowth, AtLeast: grown, Seconds: seconds}}
	}
}

func grew(before, after reading, name string) int {
	if before.families[name] == nil {
		return 0
	}
	return int(etcd.Value(after.families, name) - etcd.Value(before.families, name))
}
