// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

// Metrics of API v2, which etcd before 3.6 serves with --enable-v2. Its requests are none of gRPC, and its keys are not in the
// store that has a revision. Only requests for keys are counted, so those for its list of members, its statistics and its
// users are not known.
const (
	v2Received = "etcd_http_received_total"
	v2Watched  = "etcd_debugging_store_watch_requests_total"
	v2Watchers = "etcd_debugging_store_watchers"
)

// v2Watch is the method under which watches of API v2 are reported.
const v2Watch = "v2/watch"

// v2Calls returns the number of requests of API v2, by method. A watch is one, too, which etcd counts
// among the watches alone: its handler of keys reports what it receives only if that doesn't wait.
func v2Calls(families metricFamilies) map[string]int {
	out := map[string]int{}
	for _, m := range families[v2Received].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "method" {
				out["v2/"+l.GetValue()] += int(m.GetCounter().GetValue() + m.GetUntyped().GetValue())
			}
		}
	}
	for _, m := range families[v2Watched].GetMetric() {
		out[v2Watch] += int(m.GetCounter().GetValue() + m.GetUntyped().GetValue())
	}
	return out
}

// v2Watches returns how many watches of API v2 are open.
func v2Watches(families metricFamilies) (n int) {
	for _, m := range families[v2Watchers].GetMetric() {
		n += int(m.GetGauge().GetValue() + m.GetUntyped().GetValue())
	}
	return n
}
