// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// taintNode gives a node a taint until the end of the test.
func taintNode(t *testing.T, node string, taint corev1.Taint) {
	t.Helper()
	change := func(what string, taints func([]corev1.Taint) []corev1.Taint) {
		err := clusters.Await(context.WithoutCancel(t.Context()), limit, what+" of "+node, func(ctx context.Context) (string, bool, error) {
			var n corev1.Node
			if err := kube.Get(ctx, client.ObjectKey{Name: node}, &n); err != nil {
				return "", false, err
			}
			before := n.DeepCopy()
			n.Spec.Taints = taints(n.Spec.Taints)
			err := kube.Patch(ctx, &n, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
			return "", err == nil, err
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		change("the end of a taint", func(all []corev1.Taint) []corev1.Taint {
			return slices.DeleteFunc(all, func(other corev1.Taint) bool { return other.Key == taint.Key })
		})
	})
	change("a taint", func(all []corev1.Taint) []corev1.Taint { return append(all, taint) })
}

// awaitNode waits until the Ready condition of a node has this status.
func awaitNode(t *testing.T, node string, want corev1.ConditionStatus) {
	t.Helper()
	eventually(t, "Ready "+string(want)+" of "+node, func(ctx context.Context) (string, bool, error) {
		var n corev1.Node
		err := kube.Get(ctx, client.ObjectKey{Name: node}, &n)
		i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
		return "", err == nil && i >= 0 && n.Status.Conditions[i].Status == want, err
	})
}

// cutNode cuts a node off the network until heal is called or the test ends.
func cutNode(t *testing.T, node string) (heal func()) {
	t.Helper()
	heal = func() {
		if err := bed.HealNode(context.WithoutCancel(t.Context()), node); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(heal)
	if err := bed.CutNode(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	return heal
}

// deleteNode deletes the object of a node whose kubelet runs on. restore creates it again, at the latest at the end of
// the test: a kubelet registers its node only when it starts.
func deleteNode(t *testing.T, name string) (restore func()) {
	t.Helper()
	var n corev1.Node
	if err := kube.Get(t.Context(), client.ObjectKey{Name: name}, &n); err != nil {
		t.Fatal(err)
	}
	again := n.DeepCopy()
	again.ResourceVersion, again.UID = "", ""
	restore = func() {
		err := clusters.Await(context.WithoutCancel(t.Context()), limit, "node "+name+" to be back", func(ctx context.Context) (string, bool, error) {
			err := client.IgnoreAlreadyExists(kube.Create(ctx, again.DeepCopy()))
			return "", err == nil, err
		})
		if err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	if err := kube.Delete(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return restore
}
