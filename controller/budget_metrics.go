// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Each cluster has one series at most of these.
var (
	minAvailable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_min_available",
		Help: "The minAvailable that the cluster's disruption budget is kept at, by the reason for it.",
	}, []string{"namespace", "cluster", "reason"})
	evictionsLeft = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_evictions_left",
		Help: "How many Ready pods of the cluster its disruption budget lets go now; 0 holds every drain.",
	}, []string{"namespace", "cluster"})
	unprotected = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_budget_unprotected",
		Help: "1 for a cluster whose disruption budget should be kept and is not, by the reason for it.",
	}, []string{"namespace", "cluster", "reason"})
)

// What the controller did, whatever the cluster.
var (
	writes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kubectl_etcd_budget_writes_total",
		Help: "Writes of disruption budgets by result: Written, Conflict (tried again at once), Denied (by whoever guards it), Failed.",
	}, []string{"result"})
	undone = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kubectl_etcd_budget_undone_total",
		Help: "How often somebody loosened a disruption budget that is kept, and admission wasn't asked or didn't answer. It should stay 0.",
	})
)

// The results of writes.
const (
	resultWritten  = "Written"
	resultConflict = "Conflict"
	resultDenied   = "Denied"
	resultFailed   = "Failed"
)

// shown are the reasons that the series of each cluster have, so that they can be
// taken back without a look through those of all clusters.
var shown = struct {
	mu sync.Mutex
	of map[observe.OwnerKey]string
}{of: map[observe.OwnerKey]string{}}

// showKept shows a budget that is kept, showUnprotected one that isn't, each
// instead of what was shown before.
func showKept(key observe.OwnerKey, reason string, least, left int) {
	dropSeries(key)
	minAvailable.WithLabelValues(key.Namespace, key.Name, reason).Set(float64(least))
	evictionsLeft.WithLabelValues(key.Namespace, key.Name).Set(float64(left))
	noteShown(key, reason)
}

func showUnprotected(key observe.OwnerKey, reason string) {
	dropSeries(key)
	unprotected.WithLabelValues(key.Namespace, key.Name, reason).Set(1)
	noteShown(key, reason)
}

func noteShown(key observe.OwnerKey, reason string) {
	shown.mu.Lock()
	defer shown.mu.Unlock()
	shown.of[key] = reason
}

func dropSeries(key observe.OwnerKey) {
	shown.mu.Lock()
	defer shown.mu.Unlock()
	reason, is := shown.of[key]
	if !is {
		return
	}
	delete(shown.of, key)
	minAvailable.DeleteLabelValues(key.Namespace, key.Name, reason)
	evictionsLeft.DeleteLabelValues(key.Namespace, key.Name)
	unprotected.DeleteLabelValues(key.Namespace, key.Name, reason)
}

// Collectors are all metrics of this package. Only the leader has any series of
// a cluster or a policy.
func Collectors() []prometheus.Collector {
	all := []prometheus.Collector{minAvailable, evictionsLeft, unprotected, writes, undone, policyClusters, policyConflicts, cuts}
	for _, m := range clusterMetrics() {
		all = append(all, m)
	}
	return all
}

// registerMetrics makes the manager's endpoint serve them. A second manager in
// one process, as in tests, shares them.
func registerMetrics() error {
	for _, c := range Collectors() {
		var already prometheus.AlreadyRegisteredError
		if err := metrics.Registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}
