// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// verifier decides whether a certificate is the member's.
type verifier struct {
	member string
	roots  *x509.CertPool
	// from says in words where roots are from.
	from string
	// names are those that the member may have, of which the certificate needs one.
	names []string
	// given says that the user chose the name.
	given bool
}

// CertificateError says why the certificate that a member shows is not accepted.
type CertificateError struct {
	Member string
	Reason string
	// NotAfter is the end of its validity.
	NotAfter time.Time
}

func (e *CertificateError) Error() string {
	return "certificate of " + e.Member + " is not accepted: " + e.Reason
}

// config makes connections that this verifier has accepted, whose client has
// the certificate, if there is one.
func (v *verifier) config(client *tls.Certificate) *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: v.names[0],
		RootCAs:    v.roots,
		// What is switched off is Go's own verification, which knows one name
		// only. verify does all that it does, on every connection, and has
		// several names.
		InsecureSkipVerify: true, //nolint:gosec // see above
		VerifyConnection:   v.verify,
	}
	if client != nil {
		// Shown also where the member's list of authorities doesn't have its
		// issuer: the member's own error then says more than "no certificate".
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return client, nil }
	}
	return config
}

func (v *verifier) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return &CertificateError{Member: v.member, Reason: "it shows none"}
	}
	leaf := state.PeerCertificates[0]
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	refuse := func(format string, args ...any) error {
		return &CertificateError{Member: v.member, NotAfter: leaf.NotAfter, Reason: fmt.Sprintf(format, args...)}
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: between})
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return refuse("it is signed by %q, which is not among the authorities of %s; give the right ones by --cacert", leaf.Issuer, v.from)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		c := invalid.Cert
		return refuse("%q is valid from %s to %s", c.Subject, c.NotBefore.UTC().Format(time.DateTime), c.NotAfter.UTC().Format(time.DateTime))
	case err != nil:
		return refuse("%v", err)
	}
	for _, name := range v.names {
		if leaf.VerifyHostname(name) == nil {
			return nil
		}
	}
	advice := "; if one of its names is right, give it by --server-name"
	if v.given {
		advice = ""
	}
	return refuse("it is for %s; accepted are %s%s", namesOf(leaf), longest(v.names), advice)
}

// longest are the names without those that another one begins with: the same Service
// has a name with the cluster's domain and shorter ones.
func longest(names []string) string {
	long := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") })
	})
	said := strings.Join(long, ", ")
	if len(long) < len(names) {
		said += " and their shorter forms with the namespace"
	}
	return said
}
