// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Collectors returns the metrics of this package. Only the leader has series of clusters.
func Collectors() []prometheus.Collector {
	all := []prometheus.Collector{minAvailable, evictionsLeft, unprotected, writes, undone}
	for _, m := range clusterMetrics() {
		all = append(all, m)
	}
	return all
}

// Each cluster has at most one series of each of these.
var (
	minAvailable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_min_available",
		Help: "The minAvailable that is due for the cluster's disruption budget, by reason.",
	}, []string{"namespace", "cluster", "reason"})
	evictionsLeft = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_evictions_left",
		Help: "Number of Ready pods of the cluster that its disruption budget allows to evict now. 0 blocks every drain.",
	}, []string{"namespace", "cluster"})
	unprotected = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_unprotected",
		Help: "1 for a cluster of several members without a disruption budget that a policy keeps, by reason. If no policy keeps it any more, a budget may still stand.",
	}, []string{"namespace", "cluster", "reason"})
)

// What the controller did for all clusters.
var (
	writes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kubectl_etcd_budget_writes_total",
		Help: "Writes of disruption budgets by result: Written, Conflict (retried at once), Denied (by admission or validation), Failed.",
	}, []string{"result"})
	undone = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kubectl_etcd_budget_undone_total",
		Help: "How often another client loosened a managed disruption budget without passing admission. Should stay 0.",
	})
)

// The results of writes.
const (
	resultWritten  = "Written"
	resultConflict = "Conflict"
	resultDenied   = "Denied"
	resultFailed   = "Failed"
)

// resultOf distinguishes a denial from a request that failed.
func resultOf(err error) string {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsAlreadyExists(err) {
		return resultDenied
	}
	return resultFailed
}

// series holds the reason label of each cluster's series. With it they can be deleted
// without a search through those of all clusters.
var series budgetSeries

// budgetSeries has the label of the series of each managed budget, so that they can be removed.
type budgetSeries struct {
	labels memory.Keyed[owner.Key, string]
}

// setKept replaces the series of a cluster by those of a managed budget.
func (s *budgetSeries) setKept(key owner.Key, reason policy.Reason, available, evictions int) {
	s.remove(key)
	s.labels.Swap(key, reason.Name())
	minAvailable.WithLabelValues(key.Namespace, key.Name, reason.Name()).Set(float64(available))
	evictionsLeft.WithLabelValues(key.Namespace, key.Name).Set(float64(evictions))
}

// setUnprotected replaces the series of a cluster by that of a missing protection.
func (s *budgetSeries) setUnprotected(key owner.Key, reason policy.Reason) {
	s.remove(key)
	s.labels.Swap(key, reason.Name())
	unprotected.WithLabelValues(key.Namespace, key.Name, reason.Name()).Set(1)
}

func (s *budgetSeries) remove(key owner.Key) {
	reason, exists := s.labels.Remove(key)
	if !exists {
		return
	}
	minAvailable.DeleteLabelValues(key.Namespace, key.Name, reason)
	evictionsLeft.DeleteLabelValues(key.Namespace, key.Name)
	unprotected.DeleteLabelValues(key.Namespace, key.Name, reason)
}
