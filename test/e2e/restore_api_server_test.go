// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/pki"
)

// apiClients are what use the API server of a restored cluster.
type apiClients struct {
	requests corev1Requests
	// cache is what a controller knows: it lists once, and then only watches.
	cache corelisters.ConfigMapNamespaceLister
}

// TestPluginRestoreUnderAPIServer restores the etcd cluster of an API server, which runs on. A controller's
// cache sees the restored objects without a restart, and no write is accepted that is based on
// what is gone.
func TestPluginRestoreUnderAPIServer(t *testing.T) {
	operating(t, 3)
	c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain, Size: 3})
	api := apiServerOn(t, exposed(t, c))
	api.put(t, "kept", "then")
	r := &restoring{c: c, dir: t.TempDir()}
	r.file = filepath.Join(r.dir, "main.db")
	r.saved = decode[output.Snapshot](t, first(plugin(t, 0, "snapshot", "save", target(c), r.file, "-n", c.Namespace, "-o", "json"))).Revision
	lost := api.put(t, "lost", "later")
	stale := api.put(t, "kept", "later")
	api.caches(t, map[string]string{"kept": "later", "lost": "later"})

	r.succeeds(t, r.file)

	votersAre(t, c, 3)
	aheadOf(t, c, r.saved)
	r.tidy(t)
	api.caches(t, map[string]string{"kept": "then"})
	if _, err := api.requests.Update(t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a write that is based on a lost object is answered with %v, want a conflict", err)
	}
	again := api.put(t, "lost", "again")
	if versionOf(t, again) <= versionOf(t, lost) {
		t.Errorf("an object has resource version %s, which isn't above %s from before the restore", again.ResourceVersion, lost.ResourceVersion)
	}
	api.caches(t, map[string]string{"kept": "then", "lost": "again"})
}

// corev1Requests are the requests about ConfigMaps of one namespace.
type corev1Requests interface {
	Get(context.Context, string, metav1.GetOptions) (*corev1.ConfigMap, error)
	Create(context.Context, *corev1.ConfigMap, metav1.CreateOptions) (*corev1.ConfigMap, error)
	Update(context.Context, *corev1.ConfigMap, metav1.UpdateOptions) (*corev1.ConfigMap, error)
}

// put writes a ConfigMap with one value.
func (a apiClients) put(t *testing.T, name, value string) (written *corev1.ConfigMap) {
	t.Helper()
	retry(t, "a write through the API server", func(ctx context.Context) error {
		object, err := a.requests.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			written, err = a.requests.Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value},
			}, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		object.Data = map[string]string{"value": value}
		written, err = a.requests.Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
	return written
}

// caches waits until the controller's cache has these values.
func (a apiClients) caches(t *testing.T, want map[string]string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the cache to have %v", want), func(context.Context) (string, bool, error) {
		objects, err := a.cache.List(labels.Everything())
		got := map[string]string{}
		for _, o := range objects {
			got[o.Name] = o.Data["value"]
		}
		delete(got, "kube-root-ca.crt")
		return fmt.Sprint(got), maps.Equal(got, want), err
	})
}

func versionOf(t *testing.T, object *corev1.ConfigMap) int64 {
	t.Helper()
	version, err := strconv.ParseInt(object.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// exposed gives the client Service a port on the nodes, and returns its URLs there.
func exposed(t *testing.T, c *clusters.Cluster) []string {
	t.Helper()
	service := corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + "-client"}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"type":"NodePort"}}`))
	if err := kube.Patch(t.Context(), &service, patch); err != nil {
		t.Fatal(err)
	}
	var nodes corev1.NodeList
	if err := kube.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, n := range nodes.Items[:2] {
		at := slices.IndexFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeInternalIP })
		urls = append(urls, fmt.Sprintf("http://%s:%d", n.Status.Addresses[at].Address, service.Spec.Ports[0].NodePort))
	}
	return urls
}

// apiServerOn starts an API server with its data in an etcd cluster, and a controller's cache.
func apiServerOn(t *testing.T, etcd []string) apiClients {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	ca, err := pki.NewAuthority(dir, "ca")
	if err != nil {
		t.Fatal(err)
	}
	for file, subject := range map[string]pki.Subject{
		"server": {Name: "kube-apiserver", IPs: []net.IP{net.IPv4(127, 0, 0, 1)}},
		"admin":  {Name: "admin", Groups: []string{"system:masters"}},
	} {
		if err := ca.Issue(file, subject); err != nil {
			t.Fatal(err)
		}
	}
	if err := pki.NewKeyPair(dir, "accounts"); err != nil {
		t.Fatal(err)
	}
	var printed safeBuffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(bed.Dir(), "libexec", "kube-apiserver"),
		"--etcd-servers="+strings.Join(etcd, ","), "--bind-address=127.0.0.1", "--secure-port="+port,
		"--service-cluster-ip-range=10.97.0.0/24", "--authorization-mode=RBAC", "--client-ca-file="+ca.Cert("ca"),
		"--tls-cert-file="+ca.Cert("server"), "--tls-private-key-file="+ca.Key("server"),
		"--service-account-issuer=https://restored.example.com", "--service-account-key-file="+filepath.Join(dir, "accounts.pub"),
		"--service-account-signing-key-file="+filepath.Join(dir, "accounts.key"))
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the end of the test's context may have done so
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the API server printed\n%s", &printed)
		}
	})
	path := filepath.Join(dir, "kubeconfig")
	if err := ca.WriteKubeconfig(path, "restored", "https://127.0.0.1:"+port, "admin"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	return clientsOf(t, kubernetes.NewForConfigOrDie(config))
}

// clientsOf returns the clients when the API server answers.
func clientsOf(t *testing.T, all kubernetes.Interface) apiClients {
	t.Helper()
	requests := all.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	retry(t, "the API server to answer", func(ctx context.Context) error {
		_, err := requests.List(ctx, metav1.ListOptions{})
		return err
	})
	factory := informers.NewSharedInformerFactoryWithOptions(all, 0, informers.WithNamespace(metav1.NamespaceDefault))
	lister := factory.Core().V1().ConfigMaps().Lister().ConfigMaps(metav1.NamespaceDefault)
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return apiClients{requests: requests, cache: lister}
}

// freePort returns a port of this machine that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
