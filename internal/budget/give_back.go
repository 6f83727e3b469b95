// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// GiveBack is the patch that has a budget say what its author asked for, but not
// less than least of so many replicas, and that removes our record from it. Nil
// where nothing of ours is on it. What is read of the record is judged at now.
func GiveBack(pdb *policyv1.PodDisruptionBudget, least, replicas int, now time.Time) (client.Patch, error) {
	record := observe.DecodeBudgetRecord(pdb.Annotations, now)
	have, problem := observe.ValueOf(pdb.Name, &pdb.Spec)
	var value *observe.BudgetValue
	// A number that isn't the one we set is its author's already.
	if problem == nil && record.Original != nil && record.Value != nil && *record.Value == have && record.Original.Field == have.Field {
		value = record.Original
		if value.Min(replicas) < least {
			value = new(value.WithMin(least, replicas))
		}
	}
	return Patch(pdb, value, observe.BudgetRecord{}, true)
}

// Least is what the budget of a cluster must keep whatever its author asks for:
// the quorum, where there is more than one member. Where the replicas that it is counted
// from have pods of others among them, those may all stay while members go.
func Least(f observe.Facts) int {
	if f.Cluster.Size <= 1 {
		return 0
	}
	least := policy.Quorum(f.Cluster.Size)
	if kept := f.Budgets.Kept; kept != nil && kept.Value.Field == observe.MaxUnavailable && f.Budgets.Strangers > 0 {
		least += max(0, f.Replicas-f.Cluster.Size)
	}
	return least
}
