// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package reasons lists the reasons that the rules and the programs give, with
// what each means and what to do about it.
package reasons

import (
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Topic is the reasons of a rule, or of one thing that a program does.
type Topic struct {
	Name    string
	Reasons []policy.Reason
}

// Rules returns a topic for each rule.
func Rules() []Topic {
	return []Topic{
		{"Budget rule", budget.Reasons()},
		{"Spread rule", spread.Reasons()},
		{"Membership rule", membership.Reasons()},
		{"Maintenance rule", maintenance.Reasons()},
	}
}
