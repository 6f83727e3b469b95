// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Collectors returns the metrics of this package. Only the leader has series of clusters.
func Collectors() []prometheus.Collector { return []prometheus.Collector{holds} }

// holdCollector holds why the rollouts of clusters are held.
type holdCollector struct {
	memory.Keyed[owner.Key, policy.Reason]
}

// holds is what the metrics endpoint serves. The managers of one process, as in tests, share it.
var holds = &holdCollector{}

var rolloutHeldMetric = prometheus.NewDesc("kubectl_etcd_rollout_held",
	"1 while the rollout of a cluster is held, with the reason of the last step: AllReady while members restart one at a time. Absent where none is held.",
	[]string{"namespace", "kind", "name", "reason"}, nil)

// Describe implements prometheus.Collector.
func (c *holdCollector) Describe(to chan<- *prometheus.Desc) { to <- rolloutHeldMetric }

// Collect implements prometheus.Collector.
func (c *holdCollector) Collect(to chan<- prometheus.Metric) {
	for key, reason := range c.All() {
		to <- prometheus.MustNewConstMetric(rolloutHeldMetric, prometheus.GaugeValue, 1, key.Namespace, key.Kind, key.Name, reason.Name())
	}
}
