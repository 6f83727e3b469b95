// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Each cluster has one series at most of these two.
var (
	minAvailable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_min_available",
		Help: "The minAvailable that the cluster's disruption budget is kept at, by the reason for it.",
	}, []string{"namespace", "cluster", "reason"})
	unprotected = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_unprotected",
		Help: "1 for a cluster whose disruption budget should be kept and is not, by the reason for it.",
	}, []string{"namespace", "cluster", "reason"})
)

// writes counts what became of writes to budgets.
var writes = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "kubectl_etcd_budget_writes_total",
	Help: "Writes of disruption budgets by result.",
}, []string{"result"})

// The results of writes.
const (
	resultWritten  = "Written"
	resultConflict = "Conflict"
	resultDenied   = "Denied"
	resultFailed   = "Failed"
)

func dropSeries(key observe.OwnerKey) {
	of := prometheus.Labels{"namespace": key.Namespace, "cluster": key.Name}
	minAvailable.DeletePartialMatch(of)
	unprotected.DeletePartialMatch(of)
}

// registerMetrics makes the manager's endpoint serve them. A second manager in
// one process, as in tests, shares them.
func registerMetrics() error {
	for _, c := range []prometheus.Collector{minAvailable, unprotected, writes} {
		var already prometheus.AlreadyRegisteredError
		if err := metrics.Registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}
