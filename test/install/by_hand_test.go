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

// The blocks of docs/install.md that uninstall without the plugin: while etcd-webhook runs,
// while it doesn't run, and to remove the remaining records.
const (
	byKubectl = "\n**By kubectl alone**"
	unaided   = "\n**While it doesn't run**"
	unrecord  = "remove the record. The annotation"
)

// typeInstall runs a block of commands from docs/install.md.
func typeInstall(t *testing.T, texts string) {
	t.Helper()
	block := shellBlock(t, "docs/install.md", texts)
	eventually(t, block, func(ctx context.Context) (string, bool, error) {
		printed, err := inShell(ctx, block)
		return fmt.Sprintf("%s%v", printed, err), err == nil, nil // a review or a write may time out
	})
}

// unaidedByHand uninstalls an installation that doesn't run. The author of the adopted budget
// asked for 2.
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
	typeInstall(t, unrecord)
}

// copyMade copies the budget that etcd-webhook created, as a user does who exports and applies
// it. The copy belongs to the user.
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

// dropCopy deletes the copy. It checks that the copy still exists and has no label or annotation
// of ours.
func dropCopy(t *testing.T, ns string) {
	t.Helper()
	theirs := &policyv1.PodDisruptionBudget{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "copied"}, theirs); err != nil {
		t.Errorf("another user's copy of a budget that was made: %v", err)
		return
	}
	if len(theirs.Labels)+len(theirs.Annotations) > 0 {
		t.Errorf("another user's budget still has the labels and annotations %v %v", theirs.Labels, theirs.Annotations)
	}
	if err := admin.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
}
