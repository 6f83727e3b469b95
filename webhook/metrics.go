// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Each replica has its own. The labels' values are words of this package and of
// policy, so there are as many series as there are reasons, however many
// clusters there are.
var (
	admissions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kubectl_etcd_admission_total",
		Help: "Admission reviews by handler, outcome and reason.",
	}, []string{"handler", "outcome", "reason"})
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kubectl_etcd_admission_duration_seconds",
		Help: "Time from an admission review's arrival to its answer. The API server waits 1 to 3 seconds, by resource, then lets the request pass.",
		// Most answers come from memory; the last buckets are those that the
		// API server may not have waited for.
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3},
	}, []string{"handler"})
)

// Collectors are all metrics of this package.
func Collectors() []prometheus.Collector { return []prometheus.Collector{admissions, durations} }

func registerMetrics() error {
	for _, c := range Collectors() {
		var already prometheus.AlreadyRegisteredError
		if err := metrics.Registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}

// timed notes how long a handler takes.
func timed(name string, now clock.PassiveClock, h admission.HandlerFunc) admission.Handler {
	seconds := durations.WithLabelValues(name)
	return admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		began := now.Now()
		defer func() { seconds.Observe(now.Since(began).Round(time.Microsecond).Seconds()) }()
		return h(ctx, req)
	})
}
