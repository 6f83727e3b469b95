// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"

	dto "github.com/prometheus/client_model/go"
)

// value is a counter's or gauge's, false where the member has none.
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

// quantile is the upper bound of the bucket that a quantile of a histogram is
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
