// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package pdb

import (
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	const removed = `"annotations":{"kubectl-etcd.dev/budget-for":null,"kubectl-etcd.dev/budget-original":null,"kubectl-etcd.dev/budget-value":null}`
	for _, row := range []struct {
		name                   string
		spec, value, original  string
		minAvailable, replicas int
		want                   string
	}{
		{name: "the original value", spec: "minAvailable=3", value: "minAvailable=3", original: "minAvailable=2", minAvailable: 2, replicas: 3, want: `"spec":{"minAvailable":2}`},
		{name: "the original value is below the quorum", spec: "minAvailable=3", value: "minAvailable=3", original: "minAvailable=1", minAvailable: 2, replicas: 3, want: `"spec":{"minAvailable":2}`},
		{name: "the owner is deleted", spec: "minAvailable=3", value: "minAvailable=3", original: "minAvailable=1", want: `"spec":{"minAvailable":1}`},
		{name: "the field of the original value", spec: "maxUnavailable=0", value: "maxUnavailable=0", original: "maxUnavailable=1", minAvailable: 2, replicas: 3, want: `"spec":{"maxUnavailable":1}`},
		{name: "the field of the original value, not below the quorum", spec: "maxUnavailable=0", value: "maxUnavailable=0", original: "maxUnavailable=2", minAvailable: 2, replicas: 3, want: `"spec":{"maxUnavailable":1}`},
		{name: "changed without admission", spec: "minAvailable=1", value: "minAvailable=2", original: "minAvailable=2", minAvailable: 2, replicas: 3},
		{name: "the author changed the field", spec: "maxUnavailable=1", value: "minAvailable=2", original: "minAvailable=2", minAvailable: 2, replicas: 3},
		{name: "the original value is unknown", spec: "minAvailable=2", value: "minAvailable=2", minAvailable: 2, replicas: 3},
		{name: "the value is the original one", spec: "minAvailable=2", value: "minAvailable=2", original: "minAvailable=2", minAvailable: 2, replicas: 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pdb := budgetOf(row.spec)
			for key, value := range map[string]string{v1alpha1.BudgetForAnnotation: "Etcd/main", v1alpha1.BudgetValueAnnotation: row.value, v1alpha1.BudgetOriginalAnnotation: row.original} {
				if value == "" {
					value = "?" // unreadable: counts as missing and is removed
				}
				pdb.Annotations[key] = value
			}
			want := `{"metadata":{` + removed + `,"resourceVersion":"7","uid":"u"}`
			if row.want != "" {
				want += "," + row.want
			}
			if got := patchOf(t, pdb, row.minAvailable, row.replicas); got != want+"}" {
				t.Errorf("patch %s, want %s", got, want)
			}
		})
	}
	t.Run("a copy of a budget that the controller created", func(t *testing.T) {
		t.Parallel()
		pdb := budgetOf("minAvailable=2")
		pdb.Labels = map[string]string{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController}
		pdb.Annotations[v1alpha1.BudgetMadeAnnotation] = "store/b"
		if got, want := patchOf(t, pdb, 0, 0), `{"metadata":{"annotations":{"kubectl-etcd.dev/budget-made":null},"labels":{"kubectl-etcd.dev/created-by":null},"resourceVersion":"7","uid":"u"}}`; got != want {
			t.Errorf("patch %s, want %s", got, want)
		}
	})
	t.Run("no record", func(t *testing.T) {
		t.Parallel()
		if got := patchOf(t, budgetOf("minAvailable=1"), 2, 3); got != "" {
			t.Errorf("patch %s", got)
		}
	})
}

func TestMinAvailable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name                      string
		size, replicas, otherPods int
		value                     annotation.BudgetValue
		want                      int
	}{
		{"one member", 1, 1, 0, annotation.BudgetValue{Field: annotation.MaxUnavailable, N: 1}, 0},
		{"three members", 3, 3, 0, annotation.BudgetValue{Field: annotation.MaxUnavailable, N: 1}, 2},
		{"two pods of another workload, which are counted", 3, 5, 2, annotation.BudgetValue{Field: annotation.MaxUnavailable, N: 3}, 4},
		{"two pods without a controller, which are not counted", 3, 3, 2, annotation.BudgetValue{Field: annotation.MaxUnavailable, N: 1}, 2},
		{"minAvailable does not depend on other pods", 3, 3, 2, annotation.BudgetValue{Field: annotation.MinAvailable, N: 2}, 2},
		{"the cluster grows", 3, 5, 0, annotation.BudgetValue{Field: annotation.MaxUnavailable, N: 1}, 2},
	} {
		f := observe.Facts{Replicas: row.replicas, Cluster: policy.Cluster{Size: row.size}}
		f.Budgets = observe.Budgets{Managed: &observe.Budget{Value: row.value}, NonMemberPods: row.otherPods}
		if got := MinAvailable(f); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func budgetOf(spec string) *policyv1.PodDisruptionBudget {
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{
		Name: "b", UID: "u", ResourceVersion: "7", Annotations: map[string]string{"team": "a"},
	}}
	pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	n := intstr.FromInt(int(spec[len(spec)-1] - '0'))
	if spec[1] == 'i' {
		pdb.Spec.MinAvailable = &n
	} else {
		pdb.Spec.MaxUnavailable = &n
	}
	return pdb
}

func patchOf(t *testing.T, pdb *policyv1.PodDisruptionBudget, minAvailable, replicas int) string {
	t.Helper()
	patch, err := Restore(pdb, minAvailable, replicas, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if patch == nil {
		return ""
	}
	text, err := patch.Data(pdb)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
