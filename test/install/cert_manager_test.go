// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// certManagerInstalled installs cert-manager on the testbed until the end of the test.
func certManagerInstalled(t *testing.T) {
	t.Helper()
	if err := AddCertManager(t.Context(), bed, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := RemoveCertManager(context.WithoutCancel(t.Context()), bed); err != nil {
			t.Error(err)
		}
	})
}

// soonSettled shortens the time after which replicas change to another authority.
const soonSettled = `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "-authority-settle-time=5s"}]`

// TestCertManager installs etcd-webhook with cert-manager's certificates. It has them renewed
// under load and by time. It applies everything again by both kinds of apply, which changes
// nothing. Each time it uninstalls etcd-webhook, and nothing remains.
func TestCertManager(t *testing.T) {
	uninstalled(t)
	certManagerInstalled(t)
	overlay := pinned(t, "overlays/cert-manager", soonSettled)
	apply := []string{"apply", "--server-side", "--force-conflicts", "-k", overlay}
	eventually(t, "cert-manager to accept the manifests", func(ctx context.Context) (string, bool, error) {
		_, err := admin.kubectl(ctx, nil, apply...)
		return fmt.Sprint(err), err == nil, nil // API servers may not trust its webhook yet
	})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, _ = admin.kubectl(ctx, nil, "delete", "--ignore-not-found", "-k", folder("overlays/cert-manager"))
	})
	rolledOut(t)
	renewedUnderLoad(t)
	changesNothing(t, func() { kubectl(t, apply...) })
	renewedByTime(t)
	leavesNothing(t)

	clientSide := []string{"apply", "-k", overlay}
	kubectl(t, clientSide...)
	rolledOut(t)
	var printed string
	changesNothing(t, func() { printed = kubectl(t, clientSide...) })
	expectUnchanged(t, printed)
	leavesNothing(t)
}

// shorter makes cert-manager renew a certificate three minutes after its creation. cert-manager
// doesn't allow a duration below one hour.
const shorter = `{"spec": {"duration": "1h", "renewBefore": "57m"}}`

// renewedByTime waits until cert-manager has renewed the certificate without a request. Every
// replica must serve this certificate, or a later one, without a restart.
func renewedByTime(t *testing.T) {
	t.Helper()
	const secret = "etcd-webhook-tls"
	before := replicas(t)
	changed(t, secret, func() {
		kubectl(t, "patch", "certificates.cert-manager.io", Name, "-n", Namespace, "--type", "merge", "-p", shorter)
	})
	changed(t, secret, func() {})
	renewed, tunnel := inSecret(t, secret), newTunnel(t)
	if life := renewed.NotAfter.Sub(renewed.NotBefore); life > 2*time.Hour {
		t.Errorf("the certificate is valid for %s, so it wasn't renewed by time", life)
	}
	for _, p := range before {
		eventually(t, p.Name+" to serve the certificate that was renewed by time", func(ctx context.Context) (string, bool, error) {
			leaf, err := servedBy(ctx, tunnel, p.Name)
			if err != nil {
				return "", false, err
			}
			return leaf.NotBefore.String(), !leaf.NotBefore.Before(renewed.NotBefore), nil
		})
		now := replica(t, p.Name)
		if now.UID != p.UID || now.Status.ContainerStatuses[0].RestartCount != p.Status.ContainerStatuses[0].RestartCount {
			t.Errorf("%s was restarted", p.Name)
		}
	}
}

// renewedUnderLoad has cert-manager renew the certificate. Then it deletes the Secret of the
// authority, which is created again with another key, and the Secret of the certificate.
// Meanwhile it creates a hundred pods a second.
func renewedUnderLoad(t *testing.T) {
	t.Helper()
	load, trust := admit(t, 100), watchTrust(t, 5*time.Second)
	const secret, authority = "etcd-webhook-tls", "etcd-webhook-authority"
	renewed(t, secret, func() { renew(t, Name) })
	changed(t, authority, func() { kubectl(t, "delete", "secret", authority, "-n", Namespace) })
	renewed(t, secret, func() { kubectl(t, "delete", "secret", secret, "-n", Namespace) })
	load.allReviewed(t)
	trust.bothTrusted(t)
}

// leavesNothing uninstalls etcd-webhook except for the policies and their definition. Afterwards
// no other object refers to it, and the policies have no status.
func leavesNothing(t *testing.T) {
	t.Helper()
	plugin(t, 0, "webhook", "uninstall", "-y")
	kept := false
	for key, text := range snapshot(t) {
		switch policy := strings.Contains(key, "/EtcdTopologyPolicy/"); {
		case policy:
			kept = true
			if strings.Contains(text, "\nstatus:") {
				t.Errorf("%s still has a status:\n%s", key, text)
			}
		case !strings.Contains(key, "CustomResourceDefinition") && (strings.Contains(text, Name) || strings.Contains(text, Namespace)):
			t.Errorf("%s is still there:\n%s", key, text)
		}
	}
	if !kept {
		t.Error("the policies are gone")
	}
}

// renew makes cert-manager renew a certificate at once, as cmctl renew does.
func renew(t *testing.T, name string) {
	t.Helper()
	kubectl(t, "patch", "certificates.cert-manager.io", name, "-n", Namespace, "--subresource", "status", "--type", "json", "-p", fmt.Sprintf(
		`[{"op": "add", "path": "/status/conditions/-", "value": {"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "a test", "lastTransitionTime": %q}}]`,
		time.Now().UTC().Format(time.RFC3339)))
}

// changed waits until harm has changed the certificate in a Secret, and returns its fingerprint.
func changed(t *testing.T, secret string, harm func()) (now string) {
	t.Helper()
	before := servingIn(t, secret)
	harm()
	eventually(t, "another certificate in Secret "+secret, func(context.Context) (string, bool, error) {
		now = servingIn(t, secret)
		return now, now != "" && now != before, nil
	})
	return now
}

// renewed waits until the replicas serve the new certificate.
func renewed(t *testing.T, secret string, harm func()) {
	t.Helper()
	now := changed(t, secret, harm)
	// The kubelet updates a pod's files when the pod changes, and otherwise once a minute.
	kubectl(t, "annotate", "pods", "--all", "-n", Namespace, "--overwrite", "kubectl-etcd.dev/test="+now)
	awaitServed(t, now)
}

// servingIn returns the fingerprint of the serving certificate in a Secret. It is empty if there
// is none.
func servingIn(t *testing.T, secret string) string {
	t.Helper()
	if c := inSecret(t, secret); c != nil {
		return fingerprint(c)
	}
	return ""
}

// inSecret returns the serving certificate in a Secret, or nil.
func inSecret(t *testing.T, secret string) *x509.Certificate {
	t.Helper()
	var s corev1.Secret
	if err := client.IgnoreNotFound(admin.Get(t.Context(), client.ObjectKey{Namespace: Namespace, Name: secret}, &s)); err != nil {
		t.Fatal(err)
	}
	return certificate(s.Data[corev1.TLSCertKey])
}

// awaitServed waits until every replica reports that it serves this certificate.
func awaitServed(t *testing.T, fingerprint string) {
	t.Helper()
	eventually(t, "every replica to serve the new certificate", func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		if err := admin.List(ctx, &pods, client.InNamespace(Namespace)); err != nil {
			return "", false, err
		}
		for _, p := range pods.Items {
			texts, err := admin.kubectl(ctx, nil, "logs", p.Name, "-n", Namespace)
			if err != nil || !strings.Contains(string(texts), fingerprint) {
				return p.Name + " doesn't", false, err
			}
		}
		return "", len(pods.Items) > 0, nil
	})
}
