// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// sizeWarnings returns warnings about clusters that were scaled in: a budget records that they had more voters than
// they have members now, and that record goes with the budget's others. A new installation would take the members
// that are left for all, unless the number is declared.
func (u *Uninstaller) sizeWarnings(ctx context.Context, b *policyv1.PodDisruptionBudget) []string {
	n := annotation.DecodeBudgetRecord(b.Annotations, u.Clock.Now()).Size.N
	if n == 0 {
		return nil
	}
	owners, err := u.Reader.OwnersOfBudget(ctx, b)
	if err != nil { // the restore of the budget returns the error
		return nil
	}
	var warnings []string
	for _, o := range owners {
		if members := o.Members(); n > members && o.RefersTo(b.Annotations[v1alpha1.BudgetForAnnotation]) {
			c := policy.Cluster{Namespace: o.Namespace, Target: o.Target().String()}
			warnings = append(warnings, fmt.Sprintf("Budget %s/%s records that %s had %s, and it has %d now. Without this record, a new installation may count %d. "+
				"If etcd still has %d voters, as kubectl etcd member list %s shows, %s", b.Namespace, b.Name, o, policy.Count(n, "member"), members, members, n,
				c.TargetArgs()+u.Flags, c.DeclareVoters(fmt.Sprint(n))+u.Flags))
		}
	}
	return warnings
}
