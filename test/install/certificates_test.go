// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// certificateSecret is where the self-signed overlay's certificates are.
const certificateSecret = "etcd-webhook-certificate"

// shortLived lets certificates live by lifetimes that a test can wait for.
const shortLived = `[{"op": "add", "path": "/spec/template/spec/containers/0/args", "value":
["-certificate-lifetime=30s", "-authority-lifetime=90s", "-authority-settle-time=2s"]}]`

// TestSelfSignedCertificates renews certificates and authorities, by themselves
// and by all that a person may do to their Secret, while a hundred pods a second
// are admitted, each of which is reviewed. Then it takes away what nothing can be
// reviewed without, and sees that it comes back.
func TestSelfSignedCertificates(t *testing.T) {
	installed(t)
	kubectl(t, "patch", "deployment", Name, "-n", Namespace, "--type", "json", "-p", shortLived)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := admin.kubectl(ctx, nil, "patch", "deployment", Name, "-n", Namespace, "--type", "json", "-p", `[{"op": "remove", "path": "/spec/template/spec/containers/0/args"}]`)
		if err := errors.Join(err, Install(ctx, bed)); err != nil {
			t.Error(err)
		}
	})
	rolledOut(t)
	t.Run("rotation", rotateSelfSigned)
	t.Run("healing", healSelfSigned)
}

func rotateSelfSigned(t *testing.T) {
	load := admit(t, 100)
	awaitChanges(t, 2, 1, "by themselves", func() {})
	for _, row := range []struct{ name, patch string }{
		{"the certificate is removed", `{"data": {"tls.crt": null}}`},
		{"the authority's key is garbage", `{"data": {"ca.key": "Z2FyYmFnZQ=="}}`},
		{"all of it is garbage", `{"data": {"ca.crt": "eA==", "ca.key": "eA==", "tls.crt": "eA==", "tls.key": "eA==", "former-ca.crt": "eA=="}}`},
	} {
		awaitChanges(t, 1, 0, row.name, func() {
			kubectl(t, "patch", "secret", certificateSecret, "-n", Namespace, "--type", "merge", "-p", row.patch)
		})
	}
	awaitChanges(t, 1, 1, "the Secret is deleted", func() { kubectl(t, "delete", "secret", certificateSecret, "-n", Namespace) })
	load.allReviewed(t)
}

func healSelfSigned(t *testing.T) {
	probe := &admissions{pod: member(t)}
	applyAgain := func() { applied(t, "self-signed", "--server-side", "--force-conflicts") }
	for _, row := range []struct {
		name string
		harm func()
	}{
		{"the caBundle of one webhook is taken away", func() {
			kubectl(t, "patch", "mutatingwebhookconfiguration", Name, "--type", "json", "-p", `[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]`)
		}},
		{"the configuration is deleted and applied again", func() {
			kubectl(t, "delete", "mutatingwebhookconfiguration", Name)
			applyAgain()
		}},
		{"nobody might renew anything, and everything has run out", func() {
			kubectl(t, "delete", "rolebinding", "etcd-webhook-certificates", "-n", Namespace)
			saidToEnd(t)
			kubectl(t, "scale", "deployment", Name, "-n", Namespace, "--replicas", "0")
			awaitExpired(t)
			applyAgain()
		}},
		{"the Secret and the caBundle are gone", func() {
			kubectl(t, "delete", "secret", certificateSecret, "-n", Namespace)
			kubectl(t, "delete", "mutatingwebhookconfiguration", Name)
			applyAgain()
		}},
	} {
		row.harm()
		eventually(t, "a review after "+row.name, func(ctx context.Context) (string, bool, error) {
			lost := probe.try(ctx)
			return lost, lost == "", nil
		})
		rolledOut(t)
	}
}

// saidToEnd waits until no replica is ready for want of a certificate that lasts, and
// holds that the plugin says so.
func saidToEnd(t *testing.T) {
	t.Helper()
	eventually(t, "no replica to be ready", func(ctx context.Context) (string, bool, error) {
		var d appsv1.Deployment
		err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name}, &d)
		return fmt.Sprint(d.Status.ReadyReplicas), err == nil && d.Status.ReadyReplicas == 0, err
	})
	if said := problem(webhookStatus(t, 3), "WebhookNoReplica"); !strings.Contains(said, "has none that lasts isn't ready") {
		t.Errorf("of replicas whose certificate ends it is said: %q", said)
	}
}

// awaitChanges waits until harm has made so many new serving certificates and authorities.
func awaitChanges(t *testing.T, certificates, authorities int, why string, harm func()) {
	t.Helper()
	seen := map[string]map[string]bool{corev1.TLSCertKey: {}, "ca.crt": {}}
	look := func(ctx context.Context) (string, bool, error) {
		var s corev1.Secret
		err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: certificateSecret}, &s)
		if err != nil {
			return "no Secret", false, client.IgnoreNotFound(err)
		}
		for key, of := range seen {
			if cert := certificate(s.Data[key]); cert != nil {
				of[fingerprint(cert)] = true
			}
		}
		// Those that were there before are the first.
		c, a := len(seen[corev1.TLSCertKey])-1, len(seen["ca.crt"])-1
		return fmt.Sprintf("%d and %d", c, a), c >= certificates && a >= authorities, nil
	}
	if _, _, err := look(t.Context()); err != nil {
		t.Fatal(err)
	}
	harm()
	eventually(t, fmt.Sprintf("%d new certificates and %d new authorities: %s", certificates, authorities, why), look)
}

// awaitExpired waits until nothing in the Secret is valid any more.
func awaitExpired(t *testing.T) {
	t.Helper()
	eventually(t, "every certificate to run out", func(ctx context.Context) (string, bool, error) {
		var s corev1.Secret
		if err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: certificateSecret}, &s); err != nil {
			return "", false, err
		}
		ca := certificate(s.Data["ca.crt"])
		return fmt.Sprintf("authority until %s", ca.NotAfter), time.Now().After(ca.NotAfter), nil
	})
}

// fingerprint is a certificate's SHA-256 as openssl and the logs of replicas have it.
func fingerprint(cert *x509.Certificate) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(cert.Raw)), " ", ":")
}

// certificate is the first one of a text, nil where there is none.
func certificate(text []byte) *x509.Certificate {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return cert
}
