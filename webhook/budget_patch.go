// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"gomodules.xyz/jsonpatch/v2"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// patch sets a budget's number and this project's annotations, and changes nothing
// else. It is empty if the budget has all of them.
func (w *budgetWrite) patch(have annotation.BudgetValue, record annotation.BudgetRecord) []jsonpatch.Operation {
	var ops []jsonpatch.Operation
	if due := *record.Value; due != have {
		ops = append(ops, jsonpatch.NewOperation("add", "/spec/"+string(due.Field), due.N))
	}
	return append(ops, w.recordPatch(record.Encode())...)
}

// recordPatch gives the budget as written the annotations of a record, and the evictions under way that were recorded
// before the write: a client that replaces the budget doesn't know them.
func (w *budgetWrite) recordPatch(record map[string]string) []jsonpatch.Operation {
	keys := annotation.BudgetAnnotations()
	if w.old != nil && w.old.Annotations[v1alpha1.EvictionsAnnotation] != "" {
		record[v1alpha1.EvictionsAnnotation] = w.old.Annotations[v1alpha1.EvictionsAnnotation]
		keys = append(keys, v1alpha1.EvictionsAnnotation)
	}
	return annotationPatch(w.budget.Annotations, record, keys)
}
