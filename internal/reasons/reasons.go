// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Reasons are all reasons of all rules, in the order of the rules' tables.
func Reasons() []policy.ReasonDoc {
	return slices.Concat(budget.BudgetReasons(), spread.SpreadReasons(), membership.MembershipReasons(), maintenance.MaintenanceReasons())
}
