// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tlsSecret is what the manifests mount.
const tlsSecret = Name + "-tls"

// authorityKey is where the Secret keeps the certificate that signed the other.
const authorityKey = "ca.crt"

// ensureCertificate makes the webhook's serving certificate once, and returns
// the authority that the API server is to trust. Nobody keeps the authority's key.
func (k *kube) ensureCertificate(ctx context.Context) ([]byte, error) {
	secret := &corev1.Secret{}
	err := k.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: tlsSecret}, secret)
	if err == nil && len(secret.Data[authorityKey]) > 0 {
		return secret.Data[authorityKey], nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read secret %s/%s: %w", Namespace, tlsSecret, err)
	}
	data, err := servingCertificate(time.Now()) //nolint:forbidigo // a certificate is valid from the moment it is made
	if err != nil {
		return nil, fmt.Errorf("make a serving certificate: %w", err)
	}
	secret = &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: tlsSecret},
		Type:       corev1.SecretTypeTLS, Data: data,
	}
	if err := k.Create(ctx, secret); err != nil {
		return nil, fmt.Errorf("create secret %s/%s: %w", Namespace, tlsSecret, err)
	}
	return data[authorityKey], nil
}

// servingCertificate makes an authority and, for the webhook's Service, a
// certificate that it signs.
func servingCertificate(now time.Time) (map[string][]byte, error) {
	const life = 10 * 365 * 24 * time.Hour // nothing here renews it
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: Name + "-testbed"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life), // clocks differ
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	host := Name + "." + Namespace + ".svc"
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		authorityKey:            pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}
