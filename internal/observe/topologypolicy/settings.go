// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package topologypolicy

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// SpreadSettings returns the settings of a policy for the spread rule. Fields that the API server
// has not filled in get the defaults of the CRD.
func SpreadSettings(p *v1alpha1.EtcdTopologyPolicy) spread.Settings {
	s := spread.Settings{
		Topology: spread.TopologyAuto, Enforcement: spread.Required,
		Form: spread.FormTopologySpread, ZoneKey: spread.ZoneKey,
	}
	spec := p.Spec.Spread
	if spec.Topology != "" {
		s.Topology = spread.Topology(spec.Topology)
	}
	if spec.Enforcement != "" {
		s.Enforcement = spread.Enforcement(spec.Enforcement)
	}
	if spec.Form != "" {
		s.Form = spread.Form(spec.Form)
	}
	if spec.ZoneKey != "" {
		s.ZoneKey = spec.ZoneKey
	}
	return s
}

// BudgetSettings returns the settings of a policy for the budget rule, with the defaults of the CRD.
func BudgetSettings(p *v1alpha1.EtcdTopologyPolicy) budget.Settings {
	or := func(d *metav1.Duration, otherwise time.Duration) time.Duration {
		if d == nil {
			return otherwise
		}
		return d.Duration
	}
	d := p.Spec.Disruption
	return budget.Settings{
		BackupHoldLimit: or(d.BackupHoldLimit, time.Hour),
		StaleLimit:      or(d.StaleLimit, 10*time.Minute),
		Settle:          or(d.Settle, time.Minute),
	}
}

// RolloutSettings returns the settings of a policy for the rollout rule, with the defaults of the CRD.
func RolloutSettings(p *v1alpha1.EtcdTopologyPolicy) rollout.Settings {
	s := rollout.Settings{HoldLimit: time.Hour, Settle: BudgetSettings(p).Settle}
	if d := p.Spec.Rollout.HoldLimit; d != nil {
		s.HoldLimit = d.Duration
	}
	return s
}
