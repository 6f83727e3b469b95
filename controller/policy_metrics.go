// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// Each policy has these few series.
var (
	policyClusters = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_policy_clusters",
		Help: "How many clusters the EtcdTopologyPolicy governs (state Matched), and of them those whose members run as it asks (Kept) or don't (Broken), and those without a disruption budget that is kept (Unprotected).",
	}, []string{"policy", "state"})
	policyConflicts = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kubectl_etcd_policy_conflicting_clusters",
		Help: "How many clusters the EtcdTopologyPolicy would govern if another one of the same priority didn't select them, too; no policy applies to them.",
	}, []string{"policy"})
)

// publishPolicies shows what was found of every policy; one that is gone leaves.
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
