// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/certtest"
)

// TestPair checks what API servers require of a certificate.
func TestPair(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	one, two := must(newAuthority(now, 10*time.Hour)), must(newAuthority(now, 10*time.Hour))
	longest := "etcd-webhook." + strings.Repeat("n", 63) + ".svc"
	leaf := must(one.issue(now, 100*time.Hour, longest))
	if _, err := tls.X509KeyPair(leaf.certPEM, leaf.keyPEM); err != nil {
		t.Error(err)
	}
	for _, row := range []struct {
		name string
		by   []*x509.Certificate
		host string
		at   time.Duration
		want bool
	}{
		{name: "at once", host: longest, want: true},
		{name: "by a clock that is behind", host: longest, at: -9 * time.Minute, want: true},
		{name: "by a clock that is far behind", host: longest, at: -11 * time.Minute},
		{name: "at the authority's end", host: longest, at: 10*time.Hour - time.Second, want: true},
		{name: "after the authority's end", host: longest, at: 10*time.Hour + time.Second},
		{name: "another Service's name", host: testHost},
		{name: "another authority of that name", by: []*x509.Certificate{two.cert}, host: longest},
		{name: "both authorities of that name", by: []*x509.Certificate{two.cert, one.cert}, host: longest, want: true},
	} {
		if row.by == nil {
			row.by = []*x509.Certificate{one.cert}
		}
		if got := verifies([]*x509.Certificate{leaf.cert}, row.by, row.host, now.Add(row.at)); got != row.want {
			t.Errorf("%s: accepted %v", row.name, got)
		}
	}
	if leaf.cert.NotAfter.After(one.cert.NotAfter) {
		t.Errorf("the certificate ends at %s, after its authority at %s", leaf.cert.NotAfter, one.cert.NotAfter)
	}
	for _, life := range []time.Duration{50 * time.Minute, 110 * time.Minute, 8760 * time.Hour} {
		if created := createdAt(must(newAuthority(now, life)).cert); created.Sub(now).Abs() > time.Second {
			t.Errorf("an authority that lives %s seems to have been created at %s, not at %s", life, created, now)
		}
	}
	if isAuthority(leaf.cert, now) {
		t.Error("a serving certificate may sign others")
	}
	if fingerprint(one.cert) == fingerprint(two.cert) || len(fingerprint(leaf.cert)) != 32*3-1 {
		t.Errorf("fingerprints are %s, %s and %s", fingerprint(one.cert), fingerprint(two.cert), fingerprint(leaf.cert))
	}
}

// TestAuthorityOfAnotherKind lets replicas find an authority that the library can't sign with,
// while another replica serves a certificate of it. They replace it by one of their own.
func TestAuthorityOfAnotherKind(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 3) {
		m := installed(t, seed)
		m.stopOldest(2)
		theirs := anotherKind(t, nil, m.clock.Now())
		theirLeaf := anotherKind(t, theirs, m.clock.Now())
		old, leaf := must(parsePair(theirs.CertPEM, theirs.KeyPEM)), must(parsePair(theirLeaf.CertPEM, theirLeaf.KeyPEM))
		if _, err := old.issue(m.clock.Now(), time.Hour, testHost); err == nil {
			t.Fatalf("SEED=%d: the library signs with it: what is this test for?", seed)
		}
		state{authority: old, leaf: leaf}.write(m.secret)
		m.secret.ResourceVersion = m.next()
		m.bundle(old.certPEM)
		m.resume()
		m.startWith("the one before", &files{last: must(newServingCert(&tls.Certificate{Certificate: [][]byte{leaf.cert.Raw}}, nil))})
		m.run(20, time.Second)
		m.start("c")
		m.start("d")
		m.awaitRecovery("replicas that can't sign with it")
		m.stopOldest(1)
		m.run(1200, 40*time.Second)
		if st := readState(m.secret); !m.serving() || !st.authority.signs(m.clock.Now()) || readTrust(m.config).includes(old.cert) {
			m.fail("SEED=%d: in the end not everything is served, or the old authority is still there", seed)
		}
	}
}

// anotherKind creates an authority with an ECDSA key, or a serving certificate of it.
func anotherKind(t *testing.T, by *certtest.Pair, now time.Time) *certtest.Pair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: authorityName}, IsCA: by == nil, BasicConstraintsValid: true,
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(4 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	if by != nil {
		template.Subject, template.NotAfter, template.KeyUsage = pkix.Name{}, now.Add(time.Hour), x509.KeyUsageDigitalSignature
		template.DNSNames, template.ExtKeyUsage = []string{testHost}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	return certtest.Make(t, template, by)
}
