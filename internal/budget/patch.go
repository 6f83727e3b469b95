// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package budget makes the patches by which this project writes a disruption
// budget, and gives it back to its author. The controller keeps budgets by them;
// the plugin gives them back where it uninstalls the controller. It decides
// nothing of what a budget should say.
package budget

import (
	"encoding/json"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Patch is the narrowest patch that makes a budget say value and
// remember record, nil when it does already. A nil value leaves the number; one that
// is to remember nothing isn't marked as made by us either.
//
// It is a merge patch, not server-side apply: druid and Helm write the same
// number, and apply would take its ownership from them and make their next apply
// fail. Only when loosens is set does it hold to the version that was judged,
// so that a leader that was replaced and doesn't know it can't undo what its
// successor tightened. To tighten needs no such care, and would otherwise lose
// against each of the disruption controller's own writes.
func Patch(pdb *policyv1.PodDisruptionBudget, value *observe.BudgetValue, record observe.BudgetRecord, loosens bool) (client.Patch, error) {
	annotations := differences(pdb, record)
	patch := map[string]any{}
	if have, problem := observe.ValueOf(pdb.Name, &pdb.Spec); value != nil && problem == nil && have != *value {
		patch["spec"] = map[string]any{string(value.Field): value.N}
	}
	meta := map[string]any{"uid": pdb.UID}
	disowned := record.For == "" && observe.Ours(pdb)
	if disowned {
		meta["labels"] = map[string]any{v1alpha1.CreatedByLabel: nil}
	}
	if len(annotations) == 0 && len(patch) == 0 && !disowned {
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

// differences are the annotations that make a budget remember record, nil for those to
// be removed.
func differences(pdb *policyv1.PodDisruptionBudget, record observe.BudgetRecord) map[string]any {
	annotations := map[string]any{}
	want := record.Encode()
	for _, key := range observe.BudgetAnnotations() {
		have, there := pdb.Annotations[key]
		wanted, needed := want[key]
		switch {
		case needed && have != wanted:
			annotations[key] = wanted
		case there && !needed:
			annotations[key] = nil
		}
	}
	return annotations
}
