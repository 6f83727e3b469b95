// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/certtest"
)

// issuer is a certificate authority.
type issuer struct{ *certtest.Pair }

// issued is a certificate and its key in PEM.
type issued struct{ cert, key []byte }

func newIssuer(t *testing.T, name string, by *issuer) *issuer {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	if by == nil {
		by = &issuer{}
	}
	return &issuer{certtest.Make(t, template, by.Pair)}
}

// issue makes a certificate; change may be nil.
func (i *issuer) issue(t *testing.T, name string, change func(*x509.Certificate), names ...string) issued {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: names,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	made := certtest.Make(t, template, i.Pair)
	return issued{cert: made.CertPEM, key: made.KeyPEM}
}

func expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }

func only(use x509.ExtKeyUsage) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{use} }
}

// TestVerify shows members' certificates to the verifier in true handshakes.
func TestVerify(t *testing.T) {
	t.Parallel()
	ours, others := newIssuer(t, "our authority", nil), newIssuer(t, "another authority", nil)
	between := newIssuer(t, "one between", ours)
	names := []string{"a-0.a.shop.svc.cluster.local", "a-client.shop.svc", "10.0.0.1"}
	chained := between.issue(t, "etcd", nil, "a-0.a.shop.svc.cluster.local")
	chained.cert = append(chained.cert, between.CertPEM...)
	for _, row := range []struct {
		name   string
		shown  issued
		want   string
		expect func(*verifier)
	}{
		{name: "the pod's name", shown: ours.issue(t, "etcd", nil, "localhost", "a-0.a.shop.svc.cluster.local")},
		{name: "a wildcard", shown: ours.issue(t, "etcd", nil, "*.a.shop.svc.cluster.local")},
		{name: "the Service's name", shown: ours.issue(t, "etcd", nil, "a-client.shop.svc")},
		{name: "an address", shown: ours.issue(t, "etcd", func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)} })},
		{name: "signed by one between", shown: chained},
		{name: "the name that was given", shown: ours.issue(t, "etcd", nil, "localhost"), expect: func(v *verifier) { v.names, v.given = []string{"localhost"}, true }},

		{
			name: "another member's", shown: ours.issue(t, "etcd", nil, "a-1.a.shop.svc.cluster.local"),
			want: "it is for a-1.a.shop.svc.cluster.local; the accepted names are a-0.a.shop.svc.cluster.local, a-client.shop.svc, 10.0.0.1; if one of its names is right, set it with --server-name",
		},
		{
			name: "not the name that was given", shown: ours.issue(t, "etcd", nil, "a-client.shop.svc"), expect: func(v *verifier) { v.names, v.given = []string{"x"}, true },
			want: "it is for a-client.shop.svc; the accepted names are x",
		},
		{name: "a common name alone", shown: ours.issue(t, "a-client.shop.svc", nil), want: "it is for no name; the accepted names are a-0"},
		{name: "another authority", shown: others.issue(t, "etcd", nil, names...), want: `it is signed by "CN=another authority", which is not among the authorities of the test; set the right ones with --cacert`},
		{name: "expired", shown: ours.issue(t, "etcd", expired, names...), want: `"CN=etcd" is valid from 20`},
		{name: "expired, of a Secret", shown: ours.issue(t, "etcd", expired, names...), want: "; renew it in Secret shop/server, key tls.crt", expect: func(v *verifier) { v.shown = "Secret shop/server, key tls.crt" }},
		{name: "for others, of a Secret", shown: ours.issue(t, "etcd", nil, "x"), want: "it is for x (Secret shop/server, key tls.crt); the accepted", expect: func(v *verifier) { v.shown = "Secret shop/server, key tls.crt" }},
		{name: "a client's", shown: ours.issue(t, "etcd", only(x509.ExtKeyUsageClientAuth), names...), want: "incompatible key usage"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pool, from, err := poolOf(ours.CertPEM, "the test")
			if err != nil {
				t.Fatal(err)
			}
			v := &verifier{member: "pod shop/a-0", roots: pool, from: from, names: names}
			if row.expect != nil {
				row.expect(v)
			}
			err = handshake(t, v.config(nil), row.shown)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("error %v, want %q", err, row.want)
			}
		})
	}
}

// handshake connects a client to a server with the certificate.
func handshake(t *testing.T, client *tls.Config, shown issued) error {
	t.Helper()
	pair, err := tls.X509KeyPair(shown.cert, shown.key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, conn) // until the client goes
			_ = conn.Close()
		}
	}()
	conn, err := (&tls.Dialer{Config: client}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err == nil {
		_ = conn.Close()
	}
	return err
}
