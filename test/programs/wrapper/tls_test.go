// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTLS runs a member whose backup-restore, etcd and readiness all speak TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key := writePair(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	fake := &fakeBackupRestore{statuses: []string{"Successful"}}
	fake.Server = httptest.NewUnstartedServer(fake)
	fake.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	fake.StartTLS()
	t.Cleanup(fake.Close)
	w, ctx := newTestWrapper(t, fake)
	w.backupRestoreTLS, w.backupRestoreCA = true, cert
	w.etcdCert, w.etcdKey = cert, key
	fake.configs = []string{etcdConfig(t, w, "https", fmt.Sprintf(`client-transport-security:
  cert-file: %s
  key-file: %s
  client-cert-auth: true
  trusted-ca-file: %s
`, cert, key, cert))}
	m := &member{wrapper: w, ctx: ctx, ended: make(chan error, 1)}
	go func() { m.ended <- w.run(ctx) }()
	pool, err := certPool(cert)
	if err != nil {
		t.Fatal(err)
	}
	// No certificate of its own: probes have none.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	m.await(t, "https", client, http.StatusOK)
	m.stop()
	if err := m.awaitEnd(t); err != nil {
		t.Error(err)
	}
}

func TestTLSWithoutCA(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "ca.crt")
	write(t, empty, "")
	if _, err := newBackupRestore(options{backupRestoreTLS: true, backupRestoreCA: empty}); err == nil {
		t.Error("a CA file without a certificate is accepted")
	}
}

// writePair makes a certificate that is its own CA and serves both ends.
func writePair(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(time.Hour),
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)}, // httptest names its server so
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	writePEM(t, cert, "CERTIFICATE", der)
	writePEM(t, key, "PRIVATE KEY", keyDER)
	return cert, key
}

// writePEM writes one block.
func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
