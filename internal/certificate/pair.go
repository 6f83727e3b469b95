// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// authorityName is by what an authority of ours is known in a caBundle.
const authorityName = "etcd-webhook authority"

// backdate is how long before it is made a certificate is valid: clocks differ.
func backdate(life time.Duration) time.Duration { return min(10*time.Minute, life/10) }

// pair is a certificate and its key, as they stand in a Secret.
type pair struct {
	cert *x509.Certificate
	// key is nil where only the certificate can be used.
	key             crypto.Signer
	certPEM, keyPEM []byte
}

// newAuthority makes an authority that signs itself.
func newAuthority(now time.Time, life time.Duration) (*pair, error) {
	return sign(nil, &x509.Certificate{
		Subject:   pkix.Name{CommonName: authorityName},
		NotBefore: now.Add(-backdate(life)), NotAfter: now.Add(life),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	})
}

// issue makes a serving certificate for host that lives no longer than its authority.
func (p *pair) issue(now time.Time, life time.Duration, host string) (*pair, error) {
	until := now.Add(life)
	if until.After(p.cert.NotAfter) {
		until = p.cert.NotAfter
	}
	return sign(p, &x509.Certificate{
		Subject: pkix.Name{CommonName: "etcd-webhook"}, DNSNames: []string{host},
		NotBefore: now.Add(-backdate(life)), NotAfter: until, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// sign makes a key and lets the authority, or where there is none the key
// itself, sign its certificate.
func sign(authority *pair, template *x509.Certificate) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	parent, by := template, crypto.Signer(key)
	if authority != nil {
		parent, by = authority.cert, authority.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate just made: %w", err)
	}
	return &pair{
		cert: cert, key: key, certPEM: encode(cert),
		keyPEM: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
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
