// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// Trusting returns the location with a file of certificate authorities in PEM, which count in addition to those
// of the system. An empty name adds none.
func (l Location) Trusting(file string) (Location, error) {
	if file == "" {
		return l, nil
	}
	if l.scheme == "file" {
		return l, fmt.Errorf("--store-ca is for a bucket: %s is a directory", l)
	}
	text, err := os.ReadFile(file) //nolint:gosec // the user chooses the path
	if err != nil {
		return l, fmt.Errorf("read the authorities of the store: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return l, err
	}
	if !roots.AppendCertsFromPEM(text) {
		return l, fmt.Errorf("%s has no certificate in PEM", file)
	}
	l.roots = roots
	return l, nil
}

// tlsConfig returns the settings of a connection to the store.
func (l Location) tlsConfig() *tls.Config {
	return &tls.Config{RootCAs: l.roots, MinVersion: tls.VersionTLS12}
}

// client returns an HTTP client for the store.
func (l Location) client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // so in every Go
	transport.TLSClientConfig = l.tlsConfig()
	return &http.Client{Transport: transport}
}

// untrusted reports whether an error is a certificate of an unknown authority.
func untrusted(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return unknown
}
