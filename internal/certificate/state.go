// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The keys of the Secret. ca.crt, tls.crt and tls.key are the usual names; the others are
// specific to this package.
const (
	authorityCertKey = "ca.crt"
	authorityKeyKey  = "ca.key"
	nextCertKey      = "next-ca.crt"
	nextKeyKey       = "next-ca.key"
	formerCertsKey   = "former-ca.crt"
)

// FormerUntilAnnotation on the Secret with self-signed certificates holds the time until
// which the authorities that no longer sign are trusted.
const FormerUntilAnnotation = "kubectl-etcd.dev/former-authorities-until"

// maxFormer limits the size of the caBundle, in case a client deletes the Secret repeatedly.
const maxFormer = 16

// state is what the Secret holds. The zero value is an empty Secret.
type state struct {
	// authority signs certificates; nil before the first one is trusted.
	authority *pair
	// next is announced and doesn't sign yet.
	next *pair
	// former no longer sign, and stay trusted until formerUntil.
	former      []*x509.Certificate
	formerUntil time.Time
	// leaf is the certificate that every replica serves.
	leaf *pair
}

// readState reads the usable parts of a Secret and ignores the others. secret is nil if there
// is none.
func readState(secret *corev1.Secret) state {
	var s state
	if secret == nil {
		return s
	}
	s.authority, _ = parsePair(secret.Data[authorityCertKey], secret.Data[authorityKeyKey])
	s.next, _ = parsePair(secret.Data[nextCertKey], secret.Data[nextKeyKey])
	s.leaf, _ = parsePair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	s.former, _ = parseBundle(secret.Data[formerCertsKey])
	s.formerUntil, _ = time.Parse(time.RFC3339, secret.Annotations[FormerUntilAnnotation])
	return s
}

// write writes the state into a Secret and reports whether that changed it. Keys of other
// programs stay. The two keys that a Secret of type kubernetes.io/tls must have stay, too,
// with an empty value: another program may have created it, and the type can't be changed.
func (s state) write(secret *corev1.Secret) bool {
	want := map[string][]byte{authorityCertKey: nil, authorityKeyKey: nil, nextCertKey: nil, nextKeyKey: nil,
		corev1.TLSCertKey: nil, corev1.TLSPrivateKeyKey: nil, formerCertsKey: encode(s.former...)}
	for _, p := range []struct {
		*pair
		cert, key string
	}{{s.authority, authorityCertKey, authorityKeyKey}, {s.next, nextCertKey, nextKeyKey}, {s.leaf, corev1.TLSCertKey, corev1.TLSPrivateKeyKey}} {
		if p.pair != nil {
			want[p.cert], want[p.key] = p.certPEM, p.keyPEM
		}
	}
	data, annotation := writeData(secret, want), s.writeUntil(secret)
	return data || annotation
}

// writeData sets keys of a Secret, removes keys with an empty value, and reports whether that changed the Secret.
func writeData(secret *corev1.Secret, want map[string][]byte) (changed bool) {
	for key, value := range want {
		old, there := secret.Data[key]
		switch {
		case len(value) > 0 && !bytes.Equal(old, value):
			if secret.Data == nil {
				secret.Data = map[string][]byte{}
			}
			secret.Data[key], changed = value, true
		case len(value) == 0 && there && isRequired(secret, key):
			secret.Data[key], changed = []byte{}, changed || len(old) > 0
		case len(value) == 0 && there:
			delete(secret.Data, key)
			changed = true
		}
	}
	return changed
}

// isRequired reports whether the API server accepts a Secret of that type only with that key.
func isRequired(secret *corev1.Secret, key string) bool {
	return secret.Type == corev1.SecretTypeTLS && (key == corev1.TLSCertKey || key == corev1.TLSPrivateKeyKey)
}

// writeUntil records until when the former authorities are trusted, and reports whether that changed the Secret.
func (s state) writeUntil(secret *corev1.Secret) (changed bool) {
	until := ""
	if len(s.former) > 0 {
		until = s.formerUntil.UTC().Format(time.RFC3339) //nolint:forbidigo // stored
	}
	if secret.Annotations[FormerUntilAnnotation] == until {
		return false
	}
	if until == "" {
		delete(secret.Annotations, FormerUntilAnnotation)
		return true
	}
	if secret.Annotations == nil {
		secret.Annotations = map[string]string{}
	}
	secret.Annotations[FormerUntilAnnotation] = until
	return true
}

// authorities returns all authorities that must be trusted: the one that signs, the next and
// the former ones.
func (s state) authorities() []*x509.Certificate {
	var all []*x509.Certificate
	for _, p := range []*pair{s.authority, s.next} {
		if p != nil {
			all = append(all, p.cert)
		}
	}
	return append(all, s.former...)
}

// trusts reports whether an authority is among them.
func (s state) trusts(cert *x509.Certificate) bool {
	return slices.ContainsFunc(s.authorities(), cert.Equal)
}

// keepTrusting adds an authority to the former ones.
func (s *state) keepTrusting(cert *x509.Certificate, until time.Time) {
	if s.trusts(cert) {
		return
	}
	s.former = append(slices.Clone(s.former), cert)
	if len(s.former) > maxFormer {
		s.former = s.former[len(s.former)-maxFormer:]
	}
	// The annotation has whole seconds.
	if until = until.Truncate(time.Second).Add(time.Second); until.After(s.formerUntil) {
		s.formerUntil = until
	}
}
