// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// MayHideHealth reports whether a member may not be healthy although its pod or lease shows that it is: the
// readiness probe does not ask etcd, or the age of the lease is not known yet.
func (f *Facts) MayHideHealth() bool {
	return !f.Confirmed || slices.ContainsFunc(f.Notes, func(n policy.Note) bool { return n.Reason == reasons.NoReadinessProbe })
}

// ShowsUnwell reports whether a reason that is recorded on a budget or a StatefulSet shows that a member was not in order.
// A StatefulSet has that of a budget if etcd-webhook was uninstalled, which removes the record of the budget.
func ShowsUnwell(reason string) bool {
	return budget.ShowsUnwell(reason) || rollout.ShowsUnwell(reason)
}

// RecordedUnwell returns the reason by which the controller recorded last on a budget of the cluster that a member is
// not in order, empty for none. The controller may ask the members, and has seen leases for longer than this
// process. While a budget waits for a looser number, its reason is older than what is known.
func (f *Facts) RecordedUnwell(o owner.Owner) string {
	var records []annotation.BudgetRecord
	if kept := f.Budgets.Managed; kept != nil {
		records = append(records, kept.Record)
	}
	for i := range f.Budgets.Others {
		records = append(records, f.Budgets.Others[i].Record)
	}
	for _, s := range f.Budgets.Standing {
		records = append(records, s.Record)
	}
	for _, r := range records {
		if o.RefersTo(r.For) && r.State.LooserSince.IsZero() && budget.ShowsUnwell(r.Reason) {
			return r.Reason
		}
	}
	return ""
}
