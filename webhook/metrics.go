// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts decisions. The values of the labels are handlers, outcomes and reasons, so
// that the number of series doesn't grow with the number of clusters.
type metrics struct {
	admissions *prometheus.CounterVec
	durations  *prometheus.HistogramVec
}

func newMetrics() *metrics {
	return &metrics{
		admissions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubectl_etcd_admission_total",
			Help: "Admission reviews by handler, outcome and reason.",
		}, []string{"handler", "outcome", "reason"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kubectl_etcd_admission_duration_seconds",
			Help: "Time from the arrival of an admission review to the response. The API server waits 1 to 3 seconds, by resource, and then lets the request pass.",
			// Most answers come from memory. For the last buckets the API server may not
			// have waited.
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3},
		}, []string{"handler"}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.admissions, m.durations}
}

// record counts a handler's Decision and the time that it took.
func (m *metrics) record(handler string, d Decision, took time.Duration) {
	m.admissions.WithLabelValues(handler, string(d.Outcome), d.Reason.Name()).Inc()
	m.durations.WithLabelValues(handler).Observe(took.Round(time.Microsecond).Seconds())
}

// Collectors returns new collectors of every metric of this package, for their descriptions.
func Collectors() []prometheus.Collector { return newMetrics().collectors() }
