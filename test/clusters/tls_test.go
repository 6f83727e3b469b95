// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"crypto/tls"
	"crypto/x509"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCertificates verifies every name that a client dials, with the authority that the client
// has.
func TestCertificates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		flavour Flavour
		secrets []string
		dialled map[string][]string // names by the server's Secret
	}{
		{
			flavour: Druid,
			secrets: []string{
				"main-backup-ca", "main-backup-client-tls", "main-backup-server-tls",
				"main-client-ca", "main-client-tls", "main-peer-ca", "main-peer-tls", "main-server-tls",
			},
			dialled: map[string][]string{
				"main-server-tls":        {"main-local", "main-client", "main-0.main-peer.demo.svc", "main-client.demo.svc.cluster.local"},
				"main-peer-tls":          {"main-4.main-peer.demo.svc", "main-4.main-peer.demo.svc.cluster.local"},
				"main-backup-server-tls": {"main-local", "main-client.demo", "main-2.main-peer.demo.svc"},
			},
		},
		{
			flavour: Plain,
			secrets: []string{"main-client-tls", "main-peer-tls", "main-server-tls"},
			dialled: map[string][]string{
				"main-server-tls": {"localhost", "127.0.0.1", "main-client.demo", "main-0.main.demo.svc.cluster.local"},
				"main-peer-tls":   {"main-4.main.demo.svc.cluster.local"},
			},
		},
		{
			flavour: Bitnami,
			secrets: []string{"main-client-tls", "main-etcd-client-crt", "main-etcd-peer-crt"},
			dialled: map[string][]string{
				"main-etcd-client-crt": {"localhost", "main-etcd.demo.svc", "main-etcd-1.main-etcd-headless.demo.svc.cluster.local"},
				"main-etcd-peer-crt":   {"main-etcd-1.main-etcd-headless.demo.svc.cluster.local"},
			},
		},
	} {
		t.Run(string(c.flavour), func(t *testing.T) {
			t.Parallel()
			l := layout{Spec: Spec{Flavour: c.flavour, TLS: true}.withDefaults(), Namespace: "demo", Name: "main"}
			secrets, err := l.certificates(now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.secrets, slices.Sorted(maps.Keys(secrets))); diff != "" {
				t.Errorf("secrets (-want +got):\n%s", diff)
			}
			for secret, names := range c.dialled {
				for _, name := range names {
					verify(t, secret, secrets[secret], name, now)
				}
			}
		})
	}
}

// verify verifies a certificate for a name as a client does, and checks that the key matches.
func verify(t *testing.T, secret string, data map[string][]byte, name string, now time.Time) {
	t.Helper()
	pair, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
	if err != nil {
		t.Fatalf("secret %s: %v", secret, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data["ca.crt"])
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatalf("secret %s: %v", secret, err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		_, err = cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
		if err != nil {
			t.Errorf("secret %s: %v", secret, err)
		}
	}
}
