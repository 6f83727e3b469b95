// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	coordinationv1 "k8s.io/api/coordination/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestForeignBudgets checks that a user's budget retains its field and its selector. Only the
// number changes, and only while backups fail.
func TestForeignBudgets(t *testing.T) {
	beside(t)
	for name, selector := range map[string]*metav1.LabelSelector{
		"labels": {MatchLabels: map[string]string{"app": "main"}},
		"expressions": {MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"main", "other"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enter(t, 3)
			ns, _ := governed(t, nil)
			b := budgetOf(ns, "foreign", selector)
			if err := kube.Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			backup := backupLease(t, ns, time.Now())
			start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true, Annotations: map[string]string{
				v1alpha1.BackupLeaseAnnotation: backup.Name, v1alpha1.BackupMaxAgeAnnotation: "1h",
			}})
			awaitUnavailable(t, b, 1)
			renew(t, backup, time.Now().Add(-2*time.Hour))
			awaitUnavailable(t, b, 0)
			renew(t, backup, time.Now())
			awaitUnavailable(t, b, 1)
			onlyBudget(t, ns)
		})
	}
}

// TestCreatedBudgetGivesWay checks createMissing: etcd-webhook creates a budget if there is
// none. It deletes this budget as soon as a user's budget selects the same pods.
func TestCreatedBudgetGivesWay(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	ours := awaitMin(t, c, 2, policy.AllReady.Name())
	if ours.Labels[v1alpha1.CreatedByLabel] == "" {
		t.Fatalf("budget %s is not marked as ours: %v", ours.Name, ours.Labels)
	}
	foreign := budgetOf(ns, "foreign", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "main"}})
	if err := kube.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	eventually(t, "our budget to be deleted", func(ctx context.Context) (string, bool, error) {
		var list policyv1.PodDisruptionBudgetList
		err := kube.List(ctx, &list, client.InNamespace(ns))
		return fmt.Sprintf("%d budgets", len(list.Items)), len(list.Items) == 1 && list.Items[0].Name == "foreign", err
	})
	awaitUnavailable(t, foreign, 1)
}

// TestOverlappingBudgets has two budgets over one pod, so that every eviction fails. The
// policy's status names both, and etcd-webhook creates none. While the members start,
// etcd-webhook makes both stricter. Then it restores their authors' numbers.
func TestOverlappingBudgets(t *testing.T) {
	operating(t, 3)
	ns, p := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	for _, name := range []string{"first", "second"} {
		b := budgetOf(ns, name, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "main"}})
		if err := kube.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	eventually(t, "both budgets to be named in the policy's status", func(ctx context.Context) (string, bool, error) {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return "", false, err
		}
		printed := fmt.Sprintf("%+v", p.Status.Clusters)
		return printed, strings.Contains(printed, "first") && strings.Contains(printed, "second"), nil
	})
	var list policyv1.PodDisruptionBudgetList
	if err := kube.List(t.Context(), &list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 {
		t.Errorf("%d budgets, want 2", len(list.Items))
	}
	for i := range list.Items {
		awaitUnavailable(t, &list.Items[i], 1)
	}
}

func onlyBudget(t *testing.T, ns string) {
	t.Helper()
	var list policyv1.PodDisruptionBudgetList
	if err := kube.List(t.Context(), &list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 {
		t.Errorf("%d budgets in %s, want only the foreign one", len(list.Items), ns)
	}
}

// backupLease creates the Lease that a user's backup job renews.
func backupLease(t *testing.T, ns string, when time.Time) *coordinationv1.Lease {
	t.Helper()
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "backup"}}
	at := metav1.NewMicroTime(when)
	l.Spec.RenewTime = &at
	if err := kube.Create(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return l
}

func renew(t *testing.T, l *coordinationv1.Lease, when time.Time) {
	t.Helper()
	before := l.DeepCopy()
	at := metav1.NewMicroTime(when)
	l.Spec.RenewTime = &at
	if err := kube.Patch(t.Context(), l, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
