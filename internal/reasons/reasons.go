// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package reasons declares the reasons that the programs give beside those of the rules, a file
// a topic, and lists all reasons. Several programs give some of them, so the package imports
// nothing but the rules.
package reasons

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy/eviction"
	"github.com/kubectl-etcd/kubectl-etcd/policy/growth"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
	"github.com/kubectl-etcd/kubectl-etcd/policy/scale"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
	"github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// Topic is the reasons of a rule, or of one thing that a program does.
type Topic struct {
	Name    string
	Reasons []policy.Reason
}

// All returns every reason once: those of the rules in the order of their tables, and then those
// of the programs.
func All() []Topic {
	return []Topic{
		{"Budget rule", budget.Reasons()},
		{"Eviction rule", eviction.Reasons()},
		{"Drain rule", drain.Reasons()},
		{"Spread rule", spread.Reasons()},
		{"Membership rule", membership.Reasons()},
		{"Maintenance rule", maintenance.Reasons()},
		{"Restart rule", restart.Reasons()},
		{"Growth rule", growth.Reasons()},
		{"Scale rule", scale.Reasons()},
		{"Rollout rule", rollout.Reasons()},
		{"Recovery rule", recovery.Reasons()},
		{"Sweep rule", sweep.Reasons()},
		{"Disruption budgets", budgets.All()},
		{"Facts", facts.All()},
		{"EtcdTopologyPolicy", slices.Concat(topologyPolicy.All(), spread.StatusReasons())},
		{"Rollouts", rollouts.All()},
		{"Admission", admission.All()},
		{"Client traffic", clientTraffic.All()},
		{"kubectl etcd status", status.All()},
		{"kubectl etcd webhook status", installation.All()},
		{"Events of kubectl etcd", events.All()},
	}
}

// Find returns the reason with a name. It reports false for a name that no reason has, such as
// one that another version wrote into an annotation.
func Find(name string) (policy.Reason, bool) {
	for _, topic := range All() {
		for _, r := range topic.Reasons {
			if r.Name() == name {
				return r, true
			}
		}
	}
	return policy.Reason{}, false
}
