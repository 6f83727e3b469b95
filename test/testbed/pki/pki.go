// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates and kubeconfigs of a testbed. They are
// valid for ten years: a testbed is thrown away, never renewed.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Authority is a certificate authority whose files are NAME.crt and NAME.key
// in Dir.
type Authority struct {
	Dir, Name string

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Subject is whom a certificate names. With names or addresses it serves, else
// it only identifies a client.
type Subject struct {
	Name   string
	Groups []string
	DNS    []string
	IPs    []net.IP
}

// NewAuthority makes an authority and writes its files.
func NewAuthority(dir, name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	a := &Authority{Dir: dir, Name: name, cert: template, key: key}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return a, a.sign(name, template, key)
}

// Issue writes FILE.crt and FILE.key for the subject.
func (a *Authority) Issue(file string, s Subject) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template, err := newTemplate(pkix.Name{CommonName: s.Name, Organization: s.Groups})
	if err != nil {
		return err
	}
	template.DNSNames, template.IPAddresses = s.DNS, s.IPs
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(s.DNS)+len(s.IPs) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return a.sign(file, template, key)
}

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now() //nolint:forbidigo // a certificate begins when it is made
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour), // clients' clocks may lag
		NotAfter:     now.AddDate(10, 0, 0),
	}, nil
}

func (a *Authority) sign(file string, template *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign certificate of %s: %w", file, err)
	}
	if err := writePEM(a.Cert(file), "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(a.Key(file), key)
}

// Cert returns the path of an issued certificate.
func (a *Authority) Cert(file string) string { return filepath.Join(a.Dir, file+".crt") }

// Key returns the path of an issued certificate's private key.
func (a *Authority) Key(file string) string { return filepath.Join(a.Dir, file+".key") }

// NewKeyPair writes FILE.key and FILE.pub, such as ServiceAccount tokens are
// signed and checked with.
func NewKeyPair(dir, file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, file+".pub"), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(filepath.Join(dir, file+".key"), key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// WriteKubeconfig writes a kubeconfig, complete in itself, that reaches server
// with an issued certificate. name is that of its cluster and context.
func (a *Authority) WriteKubeconfig(path, name, server, file string) error {
	data := map[string][]byte{}
	for _, source := range []string{a.Cert(a.Name), a.Cert(file), a.Key(file)} {
		content, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		data[source] = content
	}
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: data[a.Cert(a.Name)]}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: data[a.Cert(file)], ClientKeyData: data[a.Key(file)]}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
