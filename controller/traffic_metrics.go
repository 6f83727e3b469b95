// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// cutsSeen are the Services whose client traffic is cut, and until when. It
// collects the seconds that are left, which pass without anything happening.
type cutsSeen struct {
	mu    sync.Mutex
	clock clock.PassiveClock
	until map[types.NamespacedName]time.Time
}

// cuts is what the metrics endpoint serves. The managers of one process, as in
// tests, share it.
var cuts = &cutsSeen{until: map[types.NamespacedName]time.Time{}}

var cutSecondsLeft = prometheus.NewDesc("kubectl_etcd_client_traffic_cut_seconds_left",
	"Seconds until client traffic through the Service is restored, negative when that is overdue. Absent where it is not cut.",
	[]string{"namespace", "service"}, nil)

func (c *cutsSeen) tell(now clock.PassiveClock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock = now
}

func (c *cutsSeen) set(service types.NamespacedName, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until[service] = until
}

func (c *cutsSeen) drop(service types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.until, service)
}

// Describe implements prometheus.Collector.
func (c *cutsSeen) Describe(to chan<- *prometheus.Desc) { to <- cutSecondsLeft }

// Collect implements prometheus.Collector.
func (c *cutsSeen) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for service, until := range c.until {
		left := until.Sub(c.clock.Now()).Seconds()
		to <- prometheus.MustNewConstMetric(cutSecondsLeft, prometheus.GaugeValue, left, service.Namespace, service.Name)
	}
}
