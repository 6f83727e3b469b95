// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUninstallSparesANamespace installs into another user's namespace, with an overlay that
// adds the manifests' labels to it, and uninstalls. The user's objects stay unchanged, and all
// objects of etcd-webhook are deleted. Without the user's objects, the namespace is deleted.
func TestUninstallSparesANamespace(t *testing.T) {
	uninstalled(t)
	ns := namespace(t, "infra")
	theirs := theirOwn(t, ns)
	dir := pinned(t, "overlays/self-signed")
	moved := "namespace: " + ns + "\n"
	file := filepath.Join(dir, "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte(moved), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "--server-side", "-k", dir)
	t.Cleanup(func() {
		if _, err := admin.kubectl(context.WithoutCancel(t.Context()), nil, "delete", "crd", "etcdtopologypolicies.policy.kubectl-etcd.dev", "--ignore-not-found"); err != nil {
			t.Error(err)
		}
	})
	kubectl(t, "rollout", "status", "deployment/"+Name, "-n", ns, "--timeout", limit.String())
	eventually(t, "the Secret and the Lease of etcd-webhook", func(ctx context.Context) (string, bool, error) {
		left := ofWebhook(ctx, t, ns)
		return left, strings.Contains(left, "secret/"+certificateSecret) && strings.Contains(left, "lease"), nil
	})

	_, plan := plugin(t, 0, "webhook", "uninstall", "--dry-run=server")
	if want := "namespace/" + ns + " is not deleted, and keeps the labels of the manifests: configmap/settings, pod/alone in it do not belong to etcd-webhook"; !strings.Contains(plan, want) {
		t.Errorf("the plan has\n%s\nwant\n%s", plan, want)
	}
	plugin(t, 0, "webhook", "uninstall", "-y")
	for _, o := range theirs {
		uid := o.GetUID()
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil || o.GetUID() != uid || o.GetDeletionTimestamp() != nil {
			t.Errorf("%s is another user's: %v, %v", describe(o), o.GetDeletionTimestamp(), err)
		}
	}
	eventually(t, "the deletion of all objects of etcd-webhook", func(ctx context.Context) (string, bool, error) {
		left := ofWebhook(ctx, t, ns)
		return left, left == "", nil
	})

	kubectl(t, "delete", "-n", ns, "configmap/settings", "pod/alone")
	plugin(t, 0, "webhook", "uninstall", "--all", "-y")
	if err := admin.Get(t.Context(), client.ObjectKey{Name: ns}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("namespace %s has no objects of others, but reading it got %v", ns, err)
	}
}

// theirOwn creates a ConfigMap and a Pod of another user in the user's namespace, and returns
// the namespace and both objects.
func theirOwn(t *testing.T, ns string) []client.Object {
	t.Helper()
	var space corev1.Namespace
	if err := admin.Get(t.Context(), client.ObjectKey{Name: ns}, &space); err != nil {
		t.Fatal(err)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "settings"}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "alone"},
		// No node has this label, so the pod never runs.
		Spec: corev1.PodSpec{NodeSelector: map[string]string{"no-node": "has-it"}, Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
	create(t, settings)
	create(t, pod)
	return []client.Object{&space, settings, pod}
}

// ofWebhook returns the names of etcd-webhook's objects in a namespace, without Events.
func ofWebhook(ctx context.Context, t *testing.T, ns string) string {
	t.Helper()
	out, err := admin.kubectl(ctx, nil, "get", "deployments,replicasets,pods,services,secrets,leases,serviceaccounts,roles,rolebindings,networkpolicies,pdb", "-n", ns, "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, Name) {
			left = append(left, strings.TrimSpace(line))
		}
	}
	return strings.Join(left, " ")
}
