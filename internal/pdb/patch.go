// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package pdb makes the patches that change a disruption budget. The controller
// uses them to set a budget and to restore it; the plugin restores budgets when it
// uninstalls the controller. The package doesn't decide the value of a budget.
package pdb

import (
	"encoding/json"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// Patch returns the smallest merge patch that sets a budget's value and record, or
// nil if the budget has both. A nil value leaves the number unchanged. A budget in whose fields another
// client left no number gets one if this project created it, and else stays without. An empty
// record also removes the label that marks a budget as created by the controller.
//
// It is a merge patch and not server-side apply: etcd-druid and Helm apply the same
// field, and server-side apply would take the ownership from them and make their next
// apply fail.
//
// If loosens is set, the patch requires the version that was evaluated. A former leader
// that doesn't know of its successor then can't undo what the successor tightened. To
// tighten is always safe, and with a required version it would conflict with each status
// update of the disruption controller.
func Patch(pdb *policyv1.PodDisruptionBudget, value *annotation.BudgetValue, record annotation.BudgetRecord, loosens bool) (client.Patch, error) {
	annotations := annotationChanges(pdb.Annotations, record)
	patch := map[string]any{}
	if have, problem := annotation.ValueOf(pdb.Name, &pdb.Spec); value != nil && have != *value && (problem == nil || observe.NotCopied(pdb)) {
		patch["spec"] = map[string]any{string(value.Field): value.IntOrString()}
	}
	meta := map[string]any{"uid": pdb.UID}
	unmark := record.For == "" && observe.Ours(pdb)
	if unmark {
		meta["labels"] = map[string]any{v1alpha1.CreatedByLabel: nil}
	}
	if len(annotations) == 0 && len(patch) == 0 && !unmark {
		return nil, nil
	}
	if loosens {
		meta["resourceVersion"] = pdb.ResourceVersion
	}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}
	patch["metadata"] = meta
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, body), nil
}

// annotationChanges returns the annotations of a budget that must change so that they
// hold record. The value is nil for an annotation that must be removed. An empty record also
// removes the evictions that admission recorded, and no other does. Annotations of
// other programs are never among them.
func annotationChanges(annotations map[string]string, record annotation.BudgetRecord) map[string]*string {
	changes := map[string]*string{}
	encoded := record.Encode()
	for _, key := range annotation.BudgetAnnotations() {
		have, exists := annotations[key]
		want, needed := encoded[key]
		switch {
		case needed && (!exists || have != want):
			changes[key] = &want
		case exists && !needed:
			changes[key] = nil
		}
	}
	if _, exists := annotations[v1alpha1.EvictionsAnnotation]; exists && record.For == "" {
		changes[v1alpha1.EvictionsAnnotation] = nil
	}
	return changes
}
