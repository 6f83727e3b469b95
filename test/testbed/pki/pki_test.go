// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

func TestCertificatesAreTrusted(t *testing.T) {
	ca, err := NewAuthority(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	if err := ca.Issue("server", Subject{Name: "s", DNS: []string{"kubernetes.default.svc"}, IPs: []net.IP{net.IPv4(10, 96, 0, 1)}}); err != nil {
		t.Fatal(err)
	}
	if err := ca.Issue("client", Subject{Name: "system:node:n", Groups: []string{"system:nodes"}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(ca.Cert("ca"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data)
	server, client := load(t, ca, "server"), load(t, ca, "client")
	for _, name := range []string{"kubernetes.default.svc", "10.96.0.1"} {
		if _, err := server.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err == nil {
		t.Error("a client's certificate can serve")
	}
	if client.Subject.CommonName != "system:node:n" || len(client.Subject.Organization) != 1 {
		t.Errorf("the client is %s", client.Subject)
	}
}

func load(t *testing.T, ca *Authority, file string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(ca.Cert(file), ca.Key(file))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestKubeconfigStandsAlone(t *testing.T) {
	ca, err := NewAuthority(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	if err := ca.Issue("admin", Subject{Name: "admin"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := ca.WriteKubeconfig(file, "x", "https://10.89.0.2:6443", "admin"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(ca.Dir); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://10.89.0.2:6443" || len(config.CertData) == 0 || len(config.KeyData) == 0 || len(config.CAData) == 0 {
		t.Errorf("%+v", config)
	}
}
