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

// authorityName is the common name by which an authority of ours is recognised in a
// caBundle. The library also makes it a DNS name of the authority.
const authorityName = "etcd-webhook-authority"

// maxBackdate is the longest time by which a certificate is backdated, because clocks differ.
const maxBackdate = 10 * time.Minute

// backdate returns by how much a certificate with this life is backdated.
func backdate(life time.Duration) time.Duration { return min(maxBackdate, life/10) }

// createdAt returns when a backdated certificate was created.
func createdAt(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(min(maxBackdate, cert.NotAfter.Sub(cert.NotBefore)/11))
}

// pair is a certificate and its key, as they are stored in a Secret.
type pair struct {
	cert *x509.Certificate
	// key is nil if only the certificate can be used.
	key             crypto.Signer
	certPEM, keyPEM []byte
}

// library returns the library that creates keys and certificates. Its rotation isn't used,
// because it drops the old authority at once.
func library(host string) *rotator.CertRotator {
	return &rotator.CertRotator{
		CAName: authorityName, CAOrganization: "kubectl-etcd",
		DNSName: host, ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// newAuthority creates a self-signed authority.
func newAuthority(now time.Time, life time.Duration) (*pair, error) {
	made, err := library("").CreateCACert(now.Add(-backdate(life)), now.Add(life))
	if err != nil {
		return nil, fmt.Errorf("create a certificate authority: %w", err)
	}
	return &pair{cert: made.Cert, key: made.Key, certPEM: made.CertPEM, keyPEM: made.KeyPEM}, nil
}

// issue creates a serving certificate for host, signed by the authority p. It expires no
// later than p.
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

// signs reports whether p is an authority that can sign at that time. The library signs with
// RSA keys only.
func (p *pair) signs(now time.Time) bool {
	_, ok := p.key.(*rsa.PrivateKey)
	return ok && isAuthority(p.cert, now)
}

// parsePair reads a certificate and its key. If the key is missing or belongs to another
// certificate, the pair has none.
func parsePair(certPEM, keyPEM []byte) (*pair, error) {
	if len(certPEM) == 0 {
		return nil, errors.New("the certificate is missing")
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

// parseBundle reads a sequence of at least one certificate.
func parseBundle(text []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parse certificate: %w", err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("there is no certificate in PEM format")
	}
	return certs, nil
}

// encode returns certificates as a bundle.
func encode(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

// isAuthority reports whether a certificate may sign others at that time.
func isAuthority(cert *x509.Certificate, now time.Time) bool {
	return cert.IsCA && cert.BasicConstraintsValid && !now.Before(cert.NotBefore) && now.Before(cert.NotAfter)
}

// fingerprint returns a certificate's SHA-256 as openssl prints it. Serial numbers don't
// distinguish the library's certificates: each authority has 0, and each certificate has 1.
func fingerprint(cert *x509.Certificate) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(cert.Raw)), " ", ":")
}
