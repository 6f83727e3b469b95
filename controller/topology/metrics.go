// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// Each policy has these series.
var (
	policyClusters = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_policy_clusters",
		Help: "Number of clusters that the EtcdTopologyPolicy governs (state Matched); of these, clusters whose members run as it requires (Kept) or don't (Broken), and clusters that no disruption budget protects (Unprotected).",
	}, []string{"policy", "state"})
	policyConflicts = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_policy_conflicting_clusters",
		Help: "Number of clusters that the EtcdTopologyPolicy and another one of the same priority select. No policy applies to them.",
	}, []string{"policy"})
)

// Collectors returns the metrics of this package. Only the leader has series of policies.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{policyClusters, policyConflicts}
}

// publishPolicies sets the metrics of all policies, and deletes those of policies that are gone.
func publishPolicies(reports map[string]*report, status map[string]v1alpha1.EtcdTopologyPolicyStatus) {
	policyClusters.Reset()
	policyConflicts.Reset()
	for name, s := range status {
		for state, n := range map[string]int32{"Matched": s.Matched, "Kept": s.Kept, "Broken": s.Broken, "Unprotected": s.Unprotected} {
			policyClusters.WithLabelValues(name, state).Set(float64(n))
		}
		policyConflicts.WithLabelValues(name).Set(float64(reports[name].tied))
	}
}
