// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// verifier verifies the certificate of a member.
type verifier struct {
	member string
	roots  *x509.CertPool
	// from describes the source of roots.
	from string
	// shown describes where the member's certificate is from, empty if that isn't known.
	shown string
	// names are those that the member can have. The certificate needs one of them.
	names []string
	// given reports whether the user chose the name.
	given bool
}

// CertificateError is the error if a member's certificate is rejected.
type CertificateError struct {
	Member string
	Reason string
	// NotAfter is the end of its validity.
	NotAfter time.Time
}

func (e *CertificateError) Error() string {
	return "certificate of " + e.Member + " is rejected: " + e.Reason
}

// config returns a configuration that uses this verifier and the client certificate, if
// there is one.
func (v *verifier) config(client *tls.Certificate) *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: v.names[0],
		RootCAs:    v.roots,
		// This disables Go's own verification, which supports only one name. verify
		// does the same on every connection, with several names.
		InsecureSkipVerify: true, //nolint:gosec // see above
		VerifyConnection:   v.verify,
	}
	if client != nil {
		// Present it even if the member's list of authorities doesn't contain its
		// issuer: the member's error is then more specific than "no certificate".
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return client, nil }
	}
	return config
}

// verify verifies the certificate of a connection.
func (v *verifier) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return &CertificateError{Member: v.member, Reason: "it presents none"}
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
		return refuse("it is signed by %q, which is not among the authorities of %s; set the right ones with --cacert", leaf.Issuer, v.from)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		c := invalid.Cert
		return refuse("%q is valid %s%s", c.Subject, validity(c), v.renew(c.Equal(leaf)))
	case err != nil:
		return refuse("%v", err)
	}
	for _, name := range v.names {
		if leaf.VerifyHostname(name) == nil {
			return nil
		}
	}
	advice := "; if one of its names is right, set it with --server-name"
	if v.given {
		advice = ""
	}
	return refuse("it is for %s%s; the accepted names are %s%s", CertificateNames(leaf), v.in(), longest(v.names), advice)
}

// validity returns the time in which a certificate is valid.
func validity(c *x509.Certificate) string {
	return fmt.Sprintf("from %s to %s", format.Time(c.NotBefore), format.Time(c.NotAfter))
}

// renew returns which certificate is to be renewed: the member's own, or that of its authority.
func (v *verifier) renew(own bool) string {
	switch {
	case !own:
		return "; it is the certificate of an authority (" + v.from + "): renew it and what it signed"
	case v.shown == "":
		return "; renew it"
	}
	return "; renew it in " + v.shown + ", and restart the member if it doesn't read the file again"
}

// in shows where the member's certificate is from, in parentheses.
func (v *verifier) in() string {
	if v.shown == "" {
		return ""
	}
	return " (" + v.shown + ")"
}

// longest returns the names without those that are a prefix of another one. The same Service
// has a name with the cluster's domain and shorter ones.
func longest(names []string) string {
	long := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") })
	})
	text := strings.Join(long, ", ")
	if len(long) < len(names) {
		text += " and their shorter forms with the namespace"
	}
	return text
}
