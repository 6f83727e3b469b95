// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package pdb

import (
	"encoding/json"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reselect returns the patch that gives a budget another selector and other owners. The budget keeps
// its number.
func Reselect(pdb *policyv1.PodDisruptionBudget, selector *metav1.LabelSelector, owners []metav1.OwnerReference) (client.Patch, error) {
	// A merge patch needs a null for the half that goes.
	to := map[string]any{"matchLabels": nil, "matchExpressions": nil}
	if len(selector.MatchExpressions) > 0 {
		to["matchExpressions"] = selector.MatchExpressions
	}
	labels := map[string]any{}
	if pdb.Spec.Selector != nil {
		for key := range pdb.Spec.Selector.MatchLabels {
			labels[key] = nil
		}
	}
	for key, value := range selector.MatchLabels {
		labels[key] = value
	}
	if len(selector.MatchLabels) > 0 {
		to["matchLabels"] = labels
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pdb.UID, "ownerReferences": owners},
		"spec":     map[string]any{"selector": to},
	})
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, body), nil
}
