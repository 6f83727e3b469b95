// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"math"

	dto "github.com/prometheus/client_model/go"
)

// value returns a counter's or gauge's, false where the member has none.
func value(families map[string]*dto.MetricFamily, name string) (float64, bool) {
	family := families[name]
	if family == nil || len(family.Metric) == 0 {
		return 0, false
	}
	switch m := family.Metric[0]; {
	case m.Counter != nil:
		return m.Counter.GetValue(), true
	case m.Gauge != nil:
		return m.Gauge.GetValue(), true
	case m.Untyped != nil:
		return m.Untyped.GetValue(), true
	}
	return 0, false
}

// quantile returns the upper bound of the bucket that a quantile of a histogram is
// in, over all that was observed since the process started; false for an empty
// one. What lies beyond the last bucket is infinite.
func quantile(families map[string]*dto.MetricFamily, name string, q float64) (float64, bool) {
	family := families[name]
	if family == nil || len(family.Metric) == 0 || family.Metric[0].Histogram == nil {
		return 0, false
	}
	h := family.Metric[0].Histogram
	total := float64(h.GetSampleCount())
	if total == 0 {
		return 0, false
	}
	for _, b := range h.Bucket {
		if float64(b.GetCumulativeCount()) >= q*total {
			return b.GetUpperBound(), true
		}
	}
	return math.Inf(1), true
}

// goodSync and goodCommit are etcd's own advice for its two disk latencies, in seconds
// (etcd.io/docs, "What does the etcd warning … mean?"; metrics guide). From slowInfo and slowWarn times
// as much on, a disk is slow.
const (
	goodSync, goodCommit = 0.010, 0.025
	slowInfo, slowWarn   = 2, 10
)

// slow are the two latencies.
var slow = []struct {
	metric, what string
	good         float64
}{
	{"etcd_disk_wal_fsync_duration_seconds", "syncs its log", goodSync},
	{"etcd_disk_backend_commit_duration_seconds", "commits", goodCommit},
}

func diskLatency(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	worst := make([]float64, len(slow))
	of := make([]string, len(slow))
	judged := 0
	for _, m := range f.Responding() {
		got := f.Metrics[m.Pod]
		if got.Err != nil {
			found = append(found, unknown("the metrics of "+m.Pod, got.Err))
			continue
		}
		for i, s := range slow {
			if p99, has := quantile(got.Value, s.metric, 0.99); has {
				judged++
				if p99 > worst[i] {
					worst[i], of[i] = p99, m.Pod
				}
			}
		}
	}
	for i, s := range slow {
		within := fmt.Sprintf("within %.0f ms", 1000*worst[i])
		if math.IsInf(worst[i], 1) {
			within = "slower than it measures"
		}
		text := fmt.Sprintf("the slowest, %s, %s %s at the 99th percentile; good is %.0f ms", of[i], s.what, within, 1000*s.good)
		switch {
		case worst[i] > slowWarn*s.good:
			found = append(found, warning("use faster or less shared disks", "%s", text))
		case worst[i] > slowInfo*s.good:
			found = append(found, info("", "%s", text))
		}
	}
	if len(found) == 0 && judged == 0 {
		return notApplicable("no member's metrics measure its disk")
	}
	return found
}
