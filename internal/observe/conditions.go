// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Condition is a condition that a cluster's operator reports, for output. Rules use Facts, which
// knows its age.
type Condition struct {
	Type, Status, Reason, Message string
	// Since is when the status last changed, and Confirmed when the operator last checked it,
	// by the operator's clock. Both are zero for a derived condition.
	Since, Confirmed time.Time
	// Bad is true where the status is not the wanted one.
	Bad bool
}

// badWhenTrue are druid's conditions for which True means a problem.
var badWhenTrue = map[druidv1alpha1.ConditionType]bool{
	druidv1alpha1.ConditionTypeClusterIDMismatch: true,
}

// Conditions reads druid's conditions of an Etcd, in its order. For a cluster without an operator it
// derives them from the facts.
func (r *Reader) Conditions(ctx context.Context, o owner.Owner, f Facts) ([]Condition, error) {
	etcd, is, err := r.Etcd(ctx, o)
	switch {
	case err != nil:
		return nil, fmt.Errorf("observe %s: %w", o, err)
	case !is:
		return derived(f), nil
	case etcd == nil:
		return nil, nil
	}
	var out []Condition
	for _, c := range etcd.Status.Conditions {
		wanted := druidv1alpha1.ConditionTrue
		if badWhenTrue[c.Type] {
			wanted = druidv1alpha1.ConditionFalse
		}
		out = append(out, Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			Since: c.LastTransitionTime.Time, Confirmed: c.LastUpdateTime.Time,
			// A condition that druid no longer checks still has its old status.
			Bad: c.Status != wanted && c.Reason != reasons.NotChecked.Name(),
		})
	}
	return out, nil
}

// newCondition returns a condition that is derived here, so its reason is one of ours.
func newCondition(status policy.Status, reason policy.Reason) policy.Condition {
	return policy.Condition{Status: status, Reason: reason.Name()}
}

func derived(f Facts) []Condition {
	var out []Condition
	add := func(kind string, c policy.Condition) {
		if c.Status != policy.Absent {
			out = append(out, Condition{Type: kind, Status: string(c.Status), Reason: c.Reason, Bad: c.Status != policy.True})
		}
	}
	add(string(druidv1alpha1.ConditionTypeAllMembersReady), f.Cluster.AllMembersReady)
	add(string(druidv1alpha1.ConditionTypeBackupReady), f.Cluster.BackupReady)
	return out
}
