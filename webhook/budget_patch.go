// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"gomodules.xyz/jsonpatch/v2"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// budgetPatch sets a budget's number and this project's annotations, and changes nothing
// else. It is empty if the budget has all of them.
func budgetPatch(pdb *policyv1.PodDisruptionBudget, have annotation.BudgetValue, record annotation.BudgetRecord) []jsonpatch.Operation {
	var ops []jsonpatch.Operation
	if due := *record.Value; due != have {
		ops = append(ops, jsonpatch.NewOperation("add", "/spec/"+string(due.Field), due.N))
	}
	return append(ops, annotationPatch(pdb.Annotations, record.Encode(), annotation.BudgetAnnotations())...)
}
