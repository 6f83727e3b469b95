// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
)

// Collectors returns all metrics of this package. Only the leader has series of
// clusters and policies.
func Collectors() []prometheus.Collector {
	all := []prometheus.Collector{minAvailable, evictionsLeft, unprotected, writes, undone, policyClusters, policyConflicts, cuts, holds}
	for _, m := range clusterMetrics() {
		all = append(all, m)
	}
	return all
}

func registerMetrics() error { return scrape.Register(Collectors()...) }
