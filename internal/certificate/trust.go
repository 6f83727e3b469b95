// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/x509"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
)

// trust holds the authorities that a webhook configuration makes API servers trust. The zero
// value is a configuration that doesn't exist: API servers call no webhook and trust nothing.
type trust struct {
	uid types.UID
	// generation counts the changes of the configuration.
	generation int64
	// bundles are the certificates that each webhook trusts.
	bundles [][]*x509.Certificate
	// injected reports whether cert-manager's cainjector adds to them.
	injected bool
}

// injectPrefix is the prefix of the annotations that configure cainjector.
const injectPrefix = "cert-manager.io/inject-"

func readTrust(c *admissionregistrationv1.MutatingWebhookConfiguration) trust {
	if c == nil {
		return trust{}
	}
	t := trust{uid: c.UID, generation: c.Generation}
	for key := range c.Annotations {
		t.injected = t.injected || strings.HasPrefix(key, injectPrefix)
	}
	for _, w := range c.Webhooks {
		// A bundle with an error counts as empty, and is written again. API servers don't use
		// a part of it either.
		certs, _ := parseBundle(w.ClientConfig.CABundle)
		t.bundles = append(t.bundles, certs)
	}
	return t
}

// all reports whether the configuration exists and something holds for each webhook. That is
// also true without webhooks: there is none to wait for.
func (t trust) all(holds func([]*x509.Certificate) bool) bool {
	return t.uid != "" && !slices.ContainsFunc(t.bundles, func(b []*x509.Certificate) bool { return !holds(b) })
}

// includes reports whether every webhook trusts the authority.
func (t trust) includes(authority *x509.Certificate) bool {
	return t.all(func(bundle []*x509.Certificate) bool { return slices.ContainsFunc(bundle, authority.Equal) })
}

// empty reports whether no webhook has a usable caBundle.
func (t trust) empty() bool {
	return !slices.ContainsFunc(t.bundles, func(bundle []*x509.Certificate) bool { return len(bundle) > 0 })
}

// equals reports whether every webhook trusts exactly these, in any order.
func (t trust) equals(want []*x509.Certificate) bool {
	return t.all(func(bundle []*x509.Certificate) bool {
		return len(bundle) == len(want) && !slices.ContainsFunc(want, func(w *x509.Certificate) bool { return !slices.ContainsFunc(bundle, w.Equal) })
	})
}

// accepts reports whether API servers with this trust accept a server with this chain, which
// begins with the server's own certificate.
func (t trust) accepts(chain []*x509.Certificate, host string, now time.Time) bool {
	return t.all(func(bundle []*x509.Certificate) bool { return verifies(chain, bundle, host, now) })
}

// rejects reports whether there are webhooks, and none accepts a server with this chain.
func (t trust) rejects(chain []*x509.Certificate, host string, now time.Time) bool {
	return len(t.bundles) > 0 && !slices.ContainsFunc(t.bundles, func(bundle []*x509.Certificate) bool { return verifies(chain, bundle, host, now) })
}

// acceptsUntil returns when the first of the authorities expires by which API servers accept
// the chain; zero if they don't accept it now.
func (t trust) acceptsUntil(chain []*x509.Certificate, host string, now time.Time) time.Time {
	var first time.Time
	for _, bundle := range t.bundles {
		var last time.Time // any authority of this webhook is sufficient
		for _, c := range chains(chain, bundle, host, now) {
			if end := authorityEnd(c); end.After(last) {
				last = end
			}
		}
		if last.IsZero() {
			return last
		}
		if first.IsZero() || last.Before(first) {
			first = last
		}
	}
	return first
}

// authorityEnd returns when the first certificate of the chain above the server's own expires.
// For a self-signed certificate it is when that expires.
func authorityEnd(chain []*x509.Certificate) time.Time {
	return slices.MinFunc(chain[min(1, len(chain)-1):], func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }).NotAfter
}

// ownAuthorities returns our authorities that any webhook trusts and that are still valid.
func (t trust) ownAuthorities(now time.Time) []*x509.Certificate {
	var all []*x509.Certificate
	for _, bundle := range t.bundles {
		for _, c := range bundle {
			if c.Subject.CommonName == authorityName && isAuthority(c, now) && !slices.ContainsFunc(all, c.Equal) {
				all = append(all, c)
			}
		}
	}
	return all
}

func verifies(chain, authorities []*x509.Certificate, host string, now time.Time) bool {
	return len(chains(chain, authorities, host, now)) > 0
}

// chains returns the chains from a certificate to one of the authorities.
func chains(chain, authorities []*x509.Certificate, host string, now time.Time) [][]*x509.Certificate {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, c := range authorities {
		roots.AddCert(c)
	}
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	all, err := chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between, CurrentTime: now})
	if err != nil {
		return nil
	}
	return all
}

// trustHistory records since when trust has been unchanged, by this process's own clock.
type trustHistory struct {
	seen  trust
	since time.Time
}

// observe records what was read last, and when.
func (s *trustHistory) observe(t trust, now time.Time) {
	if s.since.IsZero() || t.uid != s.seen.uid || t.generation != s.seen.generation {
		s.seen, s.since = t, now
	}
}
