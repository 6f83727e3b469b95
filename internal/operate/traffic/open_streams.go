// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// MemberStreams are the streams that clients hold open to one member, and their requests.
type MemberStreams struct {
	Pod string
	// Err is why nothing is known of them, nil when they were counted.
	Err error
	// Open are those of each method, by name. A cut doesn't end them.
	Open []OpenStreams
	// Requests are the unary requests that came while they were counted, by method.
	Requests []Requests
}

// OpenStreams are the streams of one gRPC method, or the watches of API v2.
type OpenStreams struct {
	// Method is Service/Method without the package: Watch/Watch, Lease/LeaseKeepAlive. Of API v2 it is v2/watch.
	Method string
	// AtLeast is how many are open. A client can have many watches in one stream,
	// and connections that are idle have none.
	AtLeast int
}

// openStreams returns the streams that were started and not handled to their end, from a
// member's counters.
func openStreams(families map[string]*dto.MetricFamily, own map[string]int) []OpenStreams {
	open := map[string]int{}
	for name, sign := range map[string]int{startedCalls: 1, handledCalls: -1} {
		for _, m := range families[name].GetMetric() {
			if method, kind := methodOf(m); kind != unaryCallsType {
				open[method] += sign * int(m.GetCounter().GetValue()+m.GetUntyped().GetValue())
			}
		}
	}
	open[v2Watch] = v2Watches(families)
	var out []OpenStreams
	for method, n := range open {
		if n -= own[method]; n > 0 {
			out = append(out, OpenStreams{Method: method, AtLeast: n})
		}
	}
	slices.SortFunc(out, func(a, b OpenStreams) int { return cmp.Compare(a.Method, b.Method) })
	return out
}

// shortService returns a gRPC service's name without its package.
func shortService(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}
