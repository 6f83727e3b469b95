// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// TestNothingIsLoosenedWithoutFacts checks that a write that can't be judged loosens no number
// that we set.
func TestNothingIsLoosenedWithoutFacts(t *testing.T) {
	t.Parallel()
	budgetOf := func(spec string) *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{
			Name: "budget", Annotations: map[string]string{v1alpha1.BudgetForAnnotation: "StatefulSet/etcd"},
		}}
		if err := yaml.Unmarshal([]byte("{"+spec+"}"), &b.Spec); err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, row := range []struct {
		old, wrote string
		kept       bool
	}{
		{"minAvailable: 3", "minAvailable: 2", true},
		{"minAvailable: 3", "minAvailable: 51%", true},
		{"maxUnavailable: 0", "maxUnavailable: 1", true},
		{"minAvailable: 2", "minAvailable: 3", false},
		{"minAvailable: 2", "minAvailable: 2", false},
		{"maxUnavailable: 1", "maxUnavailable: 0", false},
		{"minAvailable: 2", "maxUnavailable: 1", true},
		{"maxUnavailable: 1", "minAvailable: 2", true},
		{"minAvailable: 2", "maxUnavailable: 0", false},
		{"minAvailable: 2", "minAvailable: 100%", false},
		{"minAvailable: 67%", "minAvailable: 66%", true},
		{"minAvailable: 67%", "minAvailable: 67%", false},
	} {
		w := budgetWrite{old: budgetOf(row.old), budget: budgetOf(row.wrote)}
		d := w.keepWithoutFacts(Decision{Outcome: FailedOpen, Reason: reasons.Unobserved})
		if kept := d.Outcome == Patched && len(d.Patch) > 0 && len(d.Warnings) == 1; kept != row.kept {
			t.Errorf("%s -> %s: %+v", row.old, row.wrote, d)
		}
		w.old.Annotations = nil
		if d := w.keepWithoutFacts(Decision{Outcome: FailedOpen}); d.Outcome != FailedOpen {
			t.Errorf("%s -> %s without a record: %+v", row.old, row.wrote, d)
		}
	}
}
