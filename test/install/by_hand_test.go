// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How docs/install.md uninstalls without the plugin: where etcd-webhook runs, where it
// doesn't, and what removes the last of it then.
const (
	byKubectl = "\n**By kubectl alone**"
	unaided   = "\n**While it doesn't run**"
	forget    = "remove the record:"
)

// typeInstall types a block of docs/install.md.
func typeInstall(t *testing.T, texts string) {
	t.Helper()
	block := shellBlock(t, "docs/install.md", texts)
	eventually(t, block, func(ctx context.Context) (string, bool, error) {
		printed, err := inShell(ctx, block)
		return fmt.Sprintf("%s%v", printed, err), err == nil, nil // a webhook's answer, or a write, may be lost
	})
}

// unaidedByHand uninstalls what doesn't run, whose author of the adopted budget asked
// for two.
func unaidedByHand(t *testing.T, ns, adopted string) {
	t.Helper()
	cuts := shellBlock(t, "docs/install.md", byKubectl)
	_, cuts, _ = strings.Cut(cuts, "# Lift the cuts.\n")
	cuts, _, found := strings.Cut(cuts, "\n# ")
	if !found {
		t.Fatal("docs/install.md doesn't show how to end cuts")
	}
	if printed, err := inShell(t.Context(), cuts); err != nil {
		t.Fatalf("%s\n%s%v", cuts, printed, err)
	}
	typeInstall(t, unaided)
	kubectl(t, "patch", "pdb", adopted, "-n", ns, "--type", "merge", "-p", `{"spec":{"minAvailable":2}}`)
	typeInstall(t, forget)
}

// copyMade makes a copy of the budget that etcd-webhook made, for something else, as
// a user does who exports and applies it. The copy is the user's.
func copyMade(t *testing.T, ns string) {
	t.Helper()
	var made policyv1.PodDisruptionBudgetList
	if err := admin.List(t.Context(), &made, client.InNamespace(ns), client.HasLabels{v1alpha1.CreatedByLabel}); err != nil || len(made.Items) != 1 {
		t.Fatalf("%d budgets were made, want one: %v", len(made.Items), err)
	}
	theirs := &policyv1.PodDisruptionBudget{Spec: made.Items[0].Spec, ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: "copied", Labels: made.Items[0].Labels, Annotations: made.Items[0].Annotations,
	}}
	theirs.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "none"}}
	if err := admin.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
}

// dropCopy deletes the copy, which is still there and has nothing of ours on it.
func dropCopy(t *testing.T, ns string) {
	t.Helper()
	theirs := &policyv1.PodDisruptionBudget{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "copied"}, theirs); err != nil {
		t.Errorf("another user's copy of a budget that was made: %v", err)
		return
	}
	if len(theirs.Labels)+len(theirs.Annotations) > 0 {
		t.Errorf("on another user's own budget is left: %v %v", theirs.Labels, theirs.Annotations)
	}
	if err := admin.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
}
