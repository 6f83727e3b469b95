// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// readCopy adds the budget with the copy of the record. A request on an Etcd outlives the record if no replica of
// etcd-webhook answers while etcd-druid writes the StatefulSet without annotations. A request that is done would then
// be carried out again. etcd-druid leaves the annotations of its budget.
func (c *Reconciler) readCopy(ctx context.Context, s *state) error {
	if s.owner.Kind == "StatefulSet" || len(s.Sets) != 1 {
		return nil
	}
	var budgets policyv1.PodDisruptionBudgetList
	if err := c.Reader.List(ctx, &budgets, client.InNamespace(s.owner.Namespace)); err != nil {
		return fmt.Errorf("list budgets of namespace %s: %w", s.owner.Namespace, err)
	}
	s.budget = budgetOf(s.owner, budgets.Items)
	if s.records[0].Request == "" && s.budget != nil {
		uid, text, _ := strings.Cut(s.budget.Annotations[v1alpha1.RestartedPodsAnnotation], " ")
		if types.UID(uid) == s.Sets[0].UID { // one that was created again has done nothing yet
			s.records[0] = annotation.ParseRestartRecord(text)
		}
	}
	return nil
}

// budgetOf returns the first budget by name that belongs to an owner, nil for none. It is of no other cluster.
func budgetOf(o owner.Owner, budgets []policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	slices.SortFunc(budgets, func(a, b policyv1.PodDisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	for i := range budgets {
		pdb := &budgets[i]
		if pdb.DeletionTimestamp == nil && slices.ContainsFunc(pdb.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == o.UID }) {
			return pdb
		}
	}
	return nil
}

// copyRecord writes the copy of a record, and reports whether it had to.
func (c *Reconciler) copyRecord(ctx context.Context, s *state, record string) (wrote bool, err error) {
	if s.budget == nil {
		return false, nil
	}
	text := record
	if record != "" {
		text = string(s.Sets[0].UID) + " " + record
	}
	if s.budget.Annotations[v1alpha1.RestartedPodsAnnotation] == text {
		return false, nil
	}
	return true, c.annotate(ctx, s.budget, text)
}

// annotate writes the annotation of a record in exactly the version of the object that was read, or removes it if the
// text is empty.
func (c *Reconciler) annotate(ctx context.Context, obj client.Object, text string) error {
	var value any = text
	if text == "" {
		value = nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": obj.GetUID(), "resourceVersion": obj.GetResourceVersion(), "annotations": map[string]any{v1alpha1.RestartedPodsAnnotation: value},
	}})
	if err != nil {
		return err
	}
	return c.Client.Patch(ctx, obj.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, body), write.FieldOwner)
}
