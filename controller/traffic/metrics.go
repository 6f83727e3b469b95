// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
)

// Collectors returns the metrics of this package. Only the leader has series of Services.
func Collectors() []prometheus.Collector { return []prometheus.Collector{cuts} }

// cutCollector holds the Services whose client traffic is cut. It computes the
// remaining seconds at each scrape, because they change without any event.
type cutCollector struct {
	memory.Keyed[types.NamespacedName, cutEnd]
}

// cutEnd is when a cut ends, by a clock.
type cutEnd struct {
	until time.Time
	clock clock.PassiveClock
}

// cuts is what the metrics endpoint serves. The managers of one process, as in
// tests, share it.
var cuts = &cutCollector{}

var cutSecondsLeft = prometheus.NewDesc("kubectl_etcd_client_traffic_cut_seconds_left",
	"Seconds until client traffic through the Service is restored, negative when that is overdue. Absent where it is not cut.",
	[]string{"namespace", "service"}, nil)

// Describe implements prometheus.Collector.
func (c *cutCollector) Describe(to chan<- *prometheus.Desc) { to <- cutSecondsLeft }

// Collect implements prometheus.Collector.
func (c *cutCollector) Collect(to chan<- prometheus.Metric) {
	for service, end := range c.All() {
		left := end.until.Sub(end.clock.Now()).Seconds()
		to <- prometheus.MustNewConstMetric(cutSecondsLeft, prometheus.GaugeValue, left, service.Namespace, service.Name)
	}
}
