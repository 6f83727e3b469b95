// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"context"
	"slices"
	"sync"

	dto "github.com/prometheus/client_model/go"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// MemberStreams are the streams that clients hold open to one member.
type MemberStreams struct {
	Pod string
	// Err is why nothing is known of them, nil when they were counted.
	Err error
	// Open are those of each method, by name. A cut doesn't end them.
	Open []OpenStreams
}

// OpenStreams are the streams of one gRPC method.
type OpenStreams struct {
	// Method is Service/Method without the package: Watch/Watch, Lease/LeaseKeepAlive.
	Method string
	// AtLeast is how many are open. A client can have many watches in one stream,
	// and connections that are idle have none.
	AtLeast int
}

// CountStreams reads from all members at once which streams are open. own are streams
// that belong to the cluster itself, by pod and method, and are not counted.
func CountStreams(ctx context.Context, c *etcd.Cluster, own map[string]map[string]int) []MemberStreams {
	out := make([]MemberStreams, len(c.Endpoints))
	var reads sync.WaitGroup
	for i, e := range c.Endpoints {
		reads.Go(func() {
			out[i].Pod = e.Pod
			families, err := c.Metrics(ctx, e.Pod)
			if err != nil {
				out[i].Err = err
				return
			}
			out[i].Open = openStreams(families, own[e.Pod])
		})
	}
	reads.Wait()
	return out
}

// openStreams returns the streams that were started and not handled to their end, from a
// member's counters.
func openStreams(families map[string]*dto.MetricFamily, own map[string]int) []OpenStreams {
	open := map[string]int{}
	for name, sign := range map[string]int{"grpc_server_started_total": 1, "grpc_server_handled_total": -1} {
		for _, m := range families[name].GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["grpc_type"] == "unary" {
				continue
			}
			method := shortService(labels["grpc_service"]) + "/" + labels["grpc_method"]
			open[method] += sign * int(m.GetCounter().GetValue()+m.GetUntyped().GetValue())
		}
	}
	var out []OpenStreams
	for method, n := range open {
		if n -= own[method]; n > 0 {
			out = append(out, OpenStreams{Method: method, AtLeast: n})
		}
	}
	slices.SortFunc(out, func(a, b OpenStreams) int { return cmp.Compare(a.Method, b.Method) })
	return out
}

// shortService is a gRPC service's name without its package.
func shortService(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}
