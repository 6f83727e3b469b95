// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// limit is the timeout of every wait. A machine may be slow, and no test measures time.
const limit = 12 * time.Minute

// eventually waits until condition reports that the condition is true.
func eventually(tb testing.TB, what string, condition clusters.ConditionFunc) {
	tb.Helper()
	if err := clusters.Await(tb.Context(), limit, what, condition); err != nil {
		tb.Fatal(err)
	}
}

// kubectl runs the testbed's kubectl as an administrator and returns its standard output.
func kubectl(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := admin.kubectl(tb.Context(), nil, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

// installed installs etcd-webhook as on the testbeds of other tests, or updates it to this
// checkout. It waits until etcd-webhook responds.
func installed(tb testing.TB) {
	tb.Helper()
	if err := Install(tb.Context(), bed); err != nil {
		tb.Fatal(err)
	}
}

// uninstalled removes all objects of etcd-webhook, and the policies.
func uninstalled(tb testing.TB) {
	tb.Helper()
	plugin(tb, 0, "webhook", "uninstall", "--all", "-y")
}

// folder returns the path of a folder below manifests/ in this checkout.
func folder(name string) string { return filepath.Join("..", "..", "manifests", name) }

// applied installs an overlay of manifests/overlays as users do, with kubectl apply -k and these
// flags. It returns the output and doesn't wait.
func applied(tb testing.TB, overlay string, flags ...string) string {
	tb.Helper()
	return kubectl(tb, append([]string{"apply", "-k", pinned(tb, filepath.Join("overlays", overlay))}, flags...)...)
}

// pinned writes an overlay over a folder below manifests/. It sets this checkout's image by
// digest, so that another build causes another rollout, and patches the Deployment.
func pinned(tb testing.TB, name string, patches ...string) string {
	tb.Helper()
	if err := images.Push(tb.Context(), programs.Cache{}, bed.Registry(), []string{images.Webhook}, io.Discard); err != nil {
		tb.Fatal(err)
	}
	image, err := admin.image(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	there, err := filepath.Abs(folder(name))
	if err != nil {
		tb.Fatal(err)
	}
	relative, err := filepath.Rel(dir, there) // kustomize only accepts relative paths
	if err != nil {
		tb.Fatal(err)
	}
	overlay := map[string]any{"resources": []string{relative}, "images": []map[string]string{image}}
	var changes []any
	for _, p := range patches {
		changes = append(changes, map[string]any{"target": map[string]string{"kind": "Deployment"}, "patch": p})
	}
	if changes != nil {
		overlay["patches"] = changes
	}
	text, err := yaml.Marshal(overlay)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// rolledOut waits until every replica of etcd-webhook is from the latest apply, and ready.
func rolledOut(tb testing.TB) {
	tb.Helper()
	kubectl(tb, "rollout", "status", "deployment/"+Name, "--namespace", Namespace, "--timeout", limit.String())
}

// namespace creates a namespace for a test and deletes it after the test.
func namespace(tb testing.TB, prefix string) (name string) {
	tb.Helper()
	name = prefix + "-" + rand.String(5)
	create(tb, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	// No pod can be created before the service account exists.
	eventually(tb, "the service account of namespace "+name, func(ctx context.Context) (string, bool, error) {
		err := admin.Get(ctx, client.ObjectKey{Namespace: name, Name: "default"}, &corev1.ServiceAccount{})
		return "", err == nil, err
	})
	return name
}

// create creates an object and deletes it after the test.
func create(tb testing.TB, o client.Object) {
	tb.Helper()
	if err := admin.Create(tb.Context(), o); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { remove(tb, o) })
}

func remove(tb testing.TB, o client.Object) {
	tb.Helper()
	err := client.IgnoreNotFound(admin.Delete(context.WithoutCancel(tb.Context()), o))
	if err != nil {
		tb.Errorf("remove %s: %v", describe(o), err)
	}
}

func describe(o client.Object) string {
	return fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName())
}
