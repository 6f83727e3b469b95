// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
)

// authorityName is by what an authority of ours is known in a caBundle. The library
// makes it a DNS name of the authority, too.
const authorityName = "etcd-webhook-authority"

// mostBackdated is how long before it is made a certificate is valid at most: clocks differ.
const mostBackdated = 10 * time.Minute

// backdate is how long before it is made a certificate that lives so long is valid.
func backdate(life time.Duration) time.Duration { return min(mostBackdated, life/10) }

// madeAt is when a certificate was made that was backdated.
func madeAt(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(min(mostBackdated, cert.NotAfter.Sub(cert.NotBefore)/11))
}

// pair is a certificate and its key, as they stand in a Secret.
type pair struct {
	cert *x509.Certificate
	// key is nil where only the certificate can be used.
	key             crypto.Signer
	certPEM, keyPEM []byte
}

// library makes keys and certificates. It isn't asked to rotate them: it forgets the
// old authority at once.
func library(host string) *rotator.CertRotator {
	return &rotator.CertRotator{
		CAName: authorityName, CAOrganization: "kubectl-etcd",
		DNSName: host, ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// newAuthority makes an authority that signs itself.
func newAuthority(now time.Time, life time.Duration) (*pair, error) {
	made, err := library("").CreateCACert(now.Add(-backdate(life)), now.Add(life))
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	return &pair{cert: made.Cert, key: made.Key, certPEM: made.CertPEM, keyPEM: made.KeyPEM}, nil
}

// issue makes a serving certificate for host that lives no longer than its authority,
// which signs.
func (p *pair) issue(now time.Time, life time.Duration, host string) (*pair, error) {
	until := now.Add(life)
	if until.After(p.cert.NotAfter) {
		until = p.cert.NotAfter
	}
	key, ok := p.key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("issue a certificate: the authority has no RSA key")
	}
	by := &rotator.KeyPairArtifacts{Cert: p.cert, Key: key}
	certPEM, keyPEM, err := library(host).CreateCertPEM(by, now.Add(-backdate(life)), until)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	return parsePair(certPEM, keyPEM)
}

// signs says whether it is an authority that can sign at that time. The library does so
// with RSA keys only.
func (p *pair) signs(now time.Time) bool {
	_, ok := p.key.(*rsa.PrivateKey)
	return ok && isAuthority(p.cert, now)
}

// parsePair reads a certificate and its key. Where only the key is missing or
// isn't the certificate's, the pair has none.
func parsePair(certPEM, keyPEM []byte) (*pair, error) {
	if len(certPEM) == 0 {
		return nil, errors.New("it is missing")
	}
	certs, err := parseBundle(certPEM)
	if err != nil {
		return nil, err
	}
	if both, err := tls.X509KeyPair(certPEM, keyPEM); err == nil {
		if key, ok := both.PrivateKey.(crypto.Signer); ok {
			return &pair{cert: certs[0], key: key, certPEM: certPEM, keyPEM: keyPEM}, nil
		}
	}
	return &pair{cert: certs[0], certPEM: certPEM}, nil
}

// parseBundle reads certificates that follow each other; there is at least one.
func parseBundle(text []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("it can't be read: %w", err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("it is no certificate")
	}
	return certs, nil
}

// encode writes certificates one after the other.
func encode(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

// isAuthority says whether a certificate may sign others at that time.
func isAuthority(cert *x509.Certificate, now time.Time) bool {
	return cert.IsCA && cert.BasicConstraintsValid && !now.Before(cert.NotBefore) && now.Before(cert.NotAfter)
}

// fingerprint is a certificate's SHA-256 as openssl writes it. Serial numbers don't tell
// those of the library apart: each authority has 0, and all that it signs have 1.
func fingerprint(cert *x509.Certificate) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(cert.Raw)), " ", ":")
}
