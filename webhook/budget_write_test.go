// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// TestReplaceKeepsEvictions checks that a client that replaces a budget removes no eviction under way from it.
func TestReplaceKeepsEvictions(t *testing.T) {
	t.Parallel()
	const under = "plain-0=plain-0-uid@2026-11-20T10:00:00Z"
	write := func(annotations string) admissionv1.AdmissionRequest {
		raw := func(annotations string) runtime.RawExtension {
			return runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"budget","namespace":"db","uid":"budget-uid","annotations":{` + annotations + `}},"spec":{"minAvailable":2,"selector":{"matchLabels":{"app":"plain"}}}}`)}
		}
		record := `"kubectl-etcd.dev/budget-for":"StatefulSet/plain","kubectl-etcd.dev/budget-value":"minAvailable=2","kubectl-etcd.dev/evictions":"` + under + `"`
		return admissionv1.AdmissionRequest{
			UID: "u", Operation: admissionv1.Update, Namespace: "db", Name: "budget", Resource: budgetResource, OldObject: raw(record), Object: raw(annotations),
		}
	}
	for _, annotations := range []string{"", `"team":"a"`, `"kubectl-etcd.dev/evictions":"plain-1=other@2026-11-20T09:00:00Z"`} {
		live, _ := guarded(t)
		got := replica(t, live, live).handle(t, write(annotations))
		if !strings.Contains(string(got.Patch), under) {
			t.Errorf("%s: patch %s", annotations, got.Patch)
		}
	}
}
