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

// certificateSecret is the Secret with the certificates of the self-signed overlay.
const certificateSecret = "etcd-webhook-certificate"

// shortLived sets lifetimes that a test can wait for.
const shortLived = `[{"op": "add", "path": "/spec/template/spec/containers/0/args", "value":
["-certificate-lifetime=30s", "-authority-lifetime=90s", "-authority-settle-time=2s"]}]`

// minutesLived sets lifetimes that are long enough for a kubelet to notice the end of a
// certificate in time.
const minutesLived = `[{"op": "add", "path": "/spec/template/spec/containers/0/args", "value":
["-certificate-lifetime=5m", "-authority-lifetime=1h", "-authority-settle-time=2s"]}]`

// TestSelfSignedCertificates renews certificates and authorities, by themselves and after
// everything that a user may do to their Secret. Meanwhile it creates a hundred pods a second,
// and each must be reviewed. Then it deletes what reviews depend on, and checks that it is
// restored.
func TestSelfSignedCertificates(t *testing.T) {
	installedWith(t, shortLived)
	t.Run("rotation", rotateSelfSigned)
	t.Run("healing", healSelfSigned)
}

// installedWith installs etcd-webhook until the test ends, with a patch of its arguments.
func installedWith(t *testing.T, arguments string) {
	t.Helper()
	installed(t)
	kubectl(t, "patch", "deployment", Name, "-n", Namespace, "--type", "json", "-p", arguments)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := admin.kubectl(ctx, nil, "patch", "deployment", Name, "-n", Namespace, "--type", "json", "-p", `[{"op": "remove", "path": "/spec/template/spec/containers/0/args"}]`)
		if err := errors.Join(err, Install(ctx, bed)); err != nil {
			t.Error(err)
		}
	})
	rolledOut(t)
}

// TestUnreadyBeforeItsCertificateEnds removes the permission to renew a certificate. Replicas
// become unready before the certificate expires, and report this before.
func TestUnreadyBeforeItsCertificateEnds(t *testing.T) {
	installedWith(t, minutesLived)
	awaitPods(t, 2)
	now := changed(t, certificateSecret, func() {
		kubectl(t, "patch", "secret", certificateSecret, "-n", Namespace, "--type", "merge", "-p", `{"data": {"tls.crt": null}}`)
	})
	awaitServed(t, now)
	kubectl(t, "delete", "rolebinding", "etcd-webhook-certificates", "-n", Namespace)
	served := inSecret(t, certificateSecret)
	if served == nil || fingerprint(served) != now {
		t.Fatal("a certificate of five minutes was renewed before the test removed the permission")
	}
	newScraper(t, namespace(t, "expiry")).await(t, map[string]float64{
		seriesOf("kubectl_etcd_webhook_certificate_expiry_timestamp_seconds"): float64(served.NotAfter.Unix()),
	})
	expectEnd(t)
	tunnel := newTunnel(t)
	for _, p := range replicas(t) {
		leaf, err := servedBy(t.Context(), tunnel, p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !leaf.Equal(served) || p.Status.ContainerStatuses[0].RestartCount > 0 {
			t.Errorf("%s serves %s after %d restarts, not the certificate that no one could renew", p.Name, fingerprint(leaf), p.Status.ContainerStatuses[0].RestartCount)
		}
		// Both times come from this machine's clock.
		switch c := readiness(&p); {
		case c.Status != corev1.ConditionFalse:
			t.Errorf("%s is ready", p.Name)
		case !c.LastTransitionTime.Time.Before(leaf.NotAfter):
			t.Errorf("%s became unready at %s, but its certificate expired at %s", p.Name, c.LastTransitionTime, leaf.NotAfter)
		default:
			t.Logf("%s became unready %s before its certificate expired", p.Name, leaf.NotAfter.Sub(c.LastTransitionTime.Time))
		}
	}
	applied(t, "self-signed", "--server-side", "--force-conflicts")
}

// TestAnybodysSecret installs where a user has created the Secret before. A Secret of another
// type is used. For an immutable Secret, the replicas report what to do, and continue after the
// user has deleted it.
func TestAnybodysSecret(t *testing.T) {
	installed(t)
	recreate := func(text string) {
		kubectl(t, "scale", "deployment", Name, "-n", Namespace, "--replicas", "0")
		awaitPods(t, 0)
		kubectl(t, "delete", "secret", certificateSecret, "-n", Namespace, "--ignore-not-found")
		if _, err := admin.kubectl(t.Context(), []byte(text), "create", "-f", "-"); err != nil {
			t.Fatal(err)
		}
		kubectl(t, "scale", "deployment", Name, "-n", Namespace, "--replicas", "2")
	}
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: " + certificateSecret + ", namespace: " + Namespace + "}, "
	recreate(secret + "type: kubernetes.io/tls, stringData: {tls.crt: garbage, tls.key: garbage}}")
	rolledOut(t)
	if servingIn(t, certificateSecret) == "" {
		t.Error("replicas are ready, but their Secret has no certificate")
	}

	recreate(secret + "immutable: true, stringData: {tls.crt: garbage}}")
	const remedy = "kubectl delete secret " + certificateSecret + " -n " + Namespace
	eventually(t, "every replica to report what to do", func(ctx context.Context) (string, bool, error) {
		all := replicas(t)
		for _, p := range all {
			texts, err := admin.kubectl(ctx, nil, "logs", p.Name, "-n", Namespace)
			probe := checkOf(t, p.Name, "certificate")
			if err != nil || !strings.Contains(string(texts), remedy) || !strings.Contains(probe, remedy) || isReady(&p) {
				return probe, false, err
			}
		}
		return "", len(all) == 2, nil
	})
	before := replicas(t)
	kubectl(t, strings.Fields(remedy)[1:]...)
	rolledOut(t)
	for _, p := range before {
		if now := replica(t, p.Name); now.Status.ContainerStatuses[0].RestartCount > 0 {
			t.Errorf("%s was restarted", p.Name)
		}
	}
}

func rotateSelfSigned(t *testing.T) {
	load, trust := admit(t, 100), watchTrust(t, 2*time.Second)
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
	trust.bothTrusted(t)
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
		{"no program may renew anything, and everything has expired", func() {
			kubectl(t, "delete", "rolebinding", "etcd-webhook-certificates", "-n", Namespace)
			expectEnd(t)
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

// expectEnd waits until no replica is ready because the certificate is about to expire. It
// checks that the plugin reports this.
func expectEnd(t *testing.T) {
	t.Helper()
	eventually(t, "no replica to be ready", func(ctx context.Context) (string, bool, error) {
		var d appsv1.Deployment
		err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name}, &d)
		return fmt.Sprint(d.Status.ReadyReplicas), err == nil && d.Status.ReadyReplicas == 0, err
	})
	if printed := problem(webhookStatus(t, 3), "WebhookNoReplica"); !strings.Contains(printed, "so the replica isn't ready") {
		t.Errorf("the problem of replicas whose certificate ends is %q", printed)
	}
}

// awaitChanges waits until harm has created this many new serving certificates and authorities.
func awaitChanges(t *testing.T, certificates, authorities int, why string, harm func()) {
	t.Helper()
	seen := map[string]map[string]bool{corev1.TLSCertKey: {}, "ca.crt": {}}
	condition := func(ctx context.Context) (string, bool, error) {
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
		// The first ones existed before.
		c, a := len(seen[corev1.TLSCertKey])-1, len(seen["ca.crt"])-1
		return fmt.Sprintf("%d and %d", c, a), c >= certificates && a >= authorities, nil
	}
	if _, _, err := condition(t.Context()); err != nil {
		t.Fatal(err)
	}
	harm()
	eventually(t, fmt.Sprintf("%d new certificates and %d new authorities: %s", certificates, authorities, why), condition)
}

// awaitExpired waits until every certificate in the Secret has expired.
func awaitExpired(t *testing.T) {
	t.Helper()
	eventually(t, "every certificate to expire", func(ctx context.Context) (string, bool, error) {
		var s corev1.Secret
		if err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: certificateSecret}, &s); err != nil {
			return "", false, err
		}
		ca := certificate(s.Data["ca.crt"])
		return fmt.Sprintf("authority until %s", ca.NotAfter), time.Now().After(ca.NotAfter), nil
	})
}

// fingerprint returns a certificate's SHA-256 in the format of openssl and of the replicas'
// logs.
func fingerprint(cert *x509.Certificate) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(cert.Raw)), " ", ":")
}

// certificate returns the first certificate of a text, or nil.
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
