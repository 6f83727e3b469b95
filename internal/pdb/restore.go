// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package pdb

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Restore returns the patch that sets the value that the author of a budget wrote and
// removes our record, or nil if the budget has no record. The restored value keeps at
// least minAvailable of the replicas. now is the time at which the record is read.
func Restore(pdb *policyv1.PodDisruptionBudget, minAvailable, replicas int, now time.Time) (client.Patch, error) {
	record := annotation.DecodeBudgetRecord(pdb.Annotations, now)
	have, problem := annotation.ValueOf(pdb.Name, &pdb.Spec)
	var value *annotation.BudgetValue
	// If the value isn't the one that we set, the author has already changed it.
	if problem == nil && record.Original != nil && record.Value != nil && *record.Value == have && record.Original.Field == have.Field {
		value = record.Original
		if value.Min(replicas) < minAvailable {
			value = new(value.WithMin(minAvailable, replicas))
		}
	}
	return Patch(pdb, value, annotation.BudgetRecord{}, true)
}

// MinAvailable returns how many pods a restored budget must keep, whatever its author
// wrote: the quorum of a cluster, or 0 for a cluster of one member.
//
// maxUnavailable counts from all replicas that the budget selects. If some of them are
// pods of other workloads, all of those may stay while members are evicted, so their
// number is added.
func MinAvailable(f observe.Facts) int {
	size := max(f.Cluster.Size, f.Cluster.Hibernated)
	if f.Cluster.Single() && size <= 1 {
		return 0
	}
	least := policy.Quorum(size)
	if kept := f.Budgets.Managed; kept != nil && kept.Value.Field == annotation.MaxUnavailable && f.Budgets.NonMemberPods > 0 {
		least += max(0, f.Replicas-f.Cluster.Size)
	}
	return least
}
