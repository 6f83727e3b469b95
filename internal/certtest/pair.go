// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package certtest creates certificates for tests.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"testing"
)

// Pair is a certificate with its key, both also in PEM.
type Pair struct {
	Cert            *x509.Certificate
	Key             *ecdsa.PrivateKey
	CertPEM, KeyPEM []byte
}

// Make creates a key and its certificate. by signs it; if by is nil, it is self-signed.
func Make(tb testing.TB, template *x509.Certificate, by *Pair) *Pair {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(tb, err)
	if by == nil {
		by = &Pair{Cert: template, Key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Cert, key.Public(), by.Key)
	check(tb, err)
	cert, err := x509.ParseCertificate(der)
	check(tb, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	check(tb, err)
	return &Pair{
		Cert: cert, Key: key,
		CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		KeyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
