// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// certManagerInstalled runs cert-manager on the testbed until the end of the test.
func certManagerInstalled(t *testing.T) {
	t.Helper()
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.CertManager}, io.Discard); err != nil {
		t.Fatal(err)
	}
	definitions, err := programs.CertManagerDefinitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "--server-side", "-f", definitions)
	kubectl(t, "apply", "--server-side", "-f", "testdata/cert-manager.yaml")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, what := range []string{"testdata/cert-manager.yaml", definitions} {
			if _, err := admin.kubectl(ctx, nil, "delete", "--ignore-not-found", "--timeout", "8m", "-f", what); err != nil {
				t.Error(err)
			}
		}
	})
	for _, part := range []string{"controller", "cainjector", "webhook"} {
		kubectl(t, "rollout", "status", "deployment/cert-manager-"+part, "-n", "cert-manager", "--timeout", limit.String())
	}
}

// TestCertManagerRotationLosesNoReview installs etcd-webhook with cert-manager's
// certificates, and lets cert-manager renew the certificate, and then the
// authority with another key, while a hundred pods a second are admitted.
func TestCertManagerRotationLosesNoReview(t *testing.T) {
	uninstalled(t)
	certManagerInstalled(t)
	eventually(t, "cert-manager to take the manifests", func(context.Context) (string, bool, error) {
		_, err := admin.kubectl(t.Context(), nil, "apply", "--server-side", "--force-conflicts", "-k", pinned(t, "overlays/cert-manager"))
		return fmt.Sprint(err), err == nil, nil // its webhook may not be trusted yet
	})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, _ = admin.kubectl(ctx, nil, "delete", "--ignore-not-found", "-k", folder("overlays/cert-manager"))
	})
	kubectl(t, "patch", "deployment", Name, "-n", Namespace, "--type", "json", "-p", `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "-authority-settle-time=5s"}]`)
	rolledOut(t)
	load, failed := admit(t, 100), failedOpen(t)
	renew(t, "etcd-webhook", "etcd-webhook-tls")
	renew(t, "etcd-webhook-authority", "etcd-webhook-authority")
	renew(t, "etcd-webhook", "etcd-webhook-tls")
	load.allReviewed(t)
	if now := failedOpen(t); now != failed && load.late == 0 {
		t.Errorf("the API server counts reviews that failed open: %s, before %s", now, failed)
	}
}

// renew makes cert-manager renew a certificate now, as cmctl renew does, and waits
// until what it issued is served where it is etcd-webhook's own.
func renew(t *testing.T, name, secret string) {
	t.Helper()
	before := serial(t, secret)
	kubectl(t, "patch", "certificates.cert-manager.io", name, "-n", Namespace, "--subresource", "status", "--type", "json", "-p", fmt.Sprintf(
		`[{"op": "add", "path": "/status/conditions/-", "value": {"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "a test", "lastTransitionTime": %q}}]`,
		time.Now().UTC().Format(time.RFC3339)))
	eventually(t, "certificate "+name+" to be renewed", func(context.Context) (string, bool, error) {
		return before, serial(t, secret) != before, nil
	})
	if name != Name {
		return
	}
	// The kubelet looks after a pod's files when the pod changes, and else once a minute.
	kubectl(t, "annotate", "pods", "--all", "-n", Namespace, "--overwrite", "kubectl-etcd.dev/test="+serial(t, secret))
	awaitServed(t, serial(t, secret))
}

func serial(t *testing.T, secret string) string {
	t.Helper()
	var s corev1.Secret
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: Namespace, Name: secret}, &s); err != nil {
		t.Fatal(err)
	}
	return certificate(s.Data[corev1.TLSCertKey]).SerialNumber.String()
}

// awaitServed waits until every replica says that it serves this certificate.
func awaitServed(t *testing.T, serial string) {
	t.Helper()
	eventually(t, "every replica to serve the new certificate", func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		if err := admin.List(ctx, &pods, client.InNamespace(Namespace)); err != nil {
			return "", false, err
		}
		for _, p := range pods.Items {
			words, err := admin.kubectl(ctx, nil, "logs", p.Name, "-n", Namespace)
			if err != nil || !strings.Contains(string(words), serial) {
				return p.Name + " doesn't", false, err
			}
		}
		return "", len(pods.Items) > 0, nil
	})
}
