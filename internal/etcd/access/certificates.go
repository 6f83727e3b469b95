// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// caKey is the key of the authority in a Secret with a pair.
const caKey = "ca.crt"

// poolOf returns a pool of authorities in PEM. from is their source.
func poolOf(text []byte, from string) (*x509.CertPool, string, error) {
	trusted, err := authorities(text)
	if err != nil {
		return nil, from, fmt.Errorf("%s: %w", from, err)
	}
	return pool(trusted), from, nil
}

// certificates parses a certificate and the chain that follows it.
func certificates(text []byte) (leaf *x509.Certificate, chain []*x509.Certificate, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, err
		}
		chain = append(chain, c)
	}
	if len(chain) == 0 {
		return nil, nil, errors.New("there is no certificate in PEM")
	}
	return chain[0], chain[1:], nil
}

// authorities parses the certificates of authorities.
func authorities(text []byte) ([]*x509.Certificate, error) {
	first, more, err := certificates(text)
	return append([]*x509.Certificate{first}, more...), err
}

// signed reports whether one of the authorities signed leaf, directly or through chain. It
// ignores the time, since a renewed authority can be newer than the certificates that it
// signed.
func signed(leaf *x509.Certificate, chain, by []*x509.Certificate) bool {
	for range len(chain) + 1 {
		signs := func(c *x509.Certificate) bool { return c.Equal(leaf) || leaf.CheckSignatureFrom(c) == nil }
		if slices.ContainsFunc(by, signs) {
			return true
		}
		next := slices.IndexFunc(chain, signs)
		if next < 0 || chain[next].Equal(leaf) {
			return false
		}
		leaf = chain[next]
	}
	return false
}

// forClients reports whether a certificate can be used by clients.
func forClients(c *x509.Certificate) bool {
	return len(c.ExtKeyUsage) == 0 || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageClientAuth) || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// valid reports whether a client certificate and its authority are valid now.
func valid(leaf *x509.Certificate, chain, by []*x509.Certificate) bool {
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: pool(by), Intermediates: pool(chain), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil
}

func pool(certificates []*x509.Certificate) *x509.CertPool {
	all := x509.NewCertPool()
	for _, c := range certificates {
		all.AddCert(c)
	}
	return all
}

// pair is a certificate with its key that a client can present.
type pair struct {
	certificate *tls.Certificate
	leaf        *x509.Certificate
	chain       []*x509.Certificate
	from        string
}

// description describes a pair for messages, empty for none.
func (p *pair) description() string {
	if p == nil {
		return ""
	}
	return p.from + ", valid " + validity(p.leaf)
}

// pairFrom parses a pair. Neither its error nor from reveals anything about the key.
func pairFrom(cert, key []byte, from string) (pair, error) {
	both, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair{}, fmt.Errorf("%s: %w", from, err)
	}
	leaf, chain, err := certificates(cert)
	if err != nil {
		return pair{}, fmt.Errorf("%s: %w", from, err)
	}
	return pair{certificate: &both, leaf: leaf, chain: chain, from: from}, nil
}

// pairsIn returns the pairs in a Secret: tls.crt with tls.key, NAME.crt with NAME.key,
// NAME.pem with NAME-key.pem, or a NAME with cert and the same name with key instead.
func pairsIn(data map[string][]byte, from string) []pair {
	var found []pair
	for _, name := range slices.Sorted(maps.Keys(data)) {
		for _, key := range keysFor(name) {
			if len(data[key]) == 0 || key == name {
				continue
			}
			if p, err := pairFrom(data[name], data[key], from+", key "+name); err == nil {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

// keysFor returns the possible names of the key that belongs to a certificate.
func keysFor(cert string) []string {
	if cert == corev1.TLSCertKey {
		return []string{corev1.TLSPrivateKeyKey}
	}
	var keys []string
	if base, ok := strings.CutSuffix(cert, ".crt"); ok {
		keys = append(keys, base+".key")
	}
	if base, ok := strings.CutSuffix(cert, ".pem"); ok {
		keys = append(keys, base+"-key.pem", base+".key")
	}
	return append(keys, strings.Replace(cert, "cert", "key", 1))
}

// CertificateNames returns the names of a certificate, only the first few if there are many.
func CertificateNames(certificate *x509.Certificate) string {
	names := slices.Clone(certificate.DNSNames)
	for _, address := range certificate.IPAddresses {
		names = append(names, address.String())
	}
	const most = 6
	switch {
	case len(names) == 0:
		return "no name"
	case len(names) > most:
		return fmt.Sprintf("%s and %d other names", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
