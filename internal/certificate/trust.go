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

// trust is whom a webhook configuration makes API servers trust. The zero value
// is a configuration that isn't there: nobody is asked, and nothing trusted.
type trust struct {
	uid types.UID
	// generation counts changes of the configuration, whoever made them.
	generation int64
	// bundles are the certificates that each webhook trusts.
	bundles [][]*x509.Certificate
	// injected says that cert-manager's cainjector adds to them.
	injected bool
}

// injectPrefix is what the annotations begin with by which cainjector is asked.
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
		// A bundle that can't be read is none: API servers don't use part of it either.
		certs, _ := parseBundle(w.ClientConfig.CABundle) // what can't be read is written anew
		t.bundles = append(t.bundles, certs)
	}
	return t
}

// every says whether something holds for each webhook of a configuration that is there.
// One without webhooks asks nobody, so that there is nobody to wait for.
func (t trust) every(holds func([]*x509.Certificate) bool) bool {
	return t.uid != "" && !slices.ContainsFunc(t.bundles, func(b []*x509.Certificate) bool { return !holds(b) })
}

// holds says whether every webhook trusts the authority.
func (t trust) holds(authority *x509.Certificate) bool {
	return t.every(func(bundle []*x509.Certificate) bool { return slices.ContainsFunc(bundle, authority.Equal) })
}

// empty says that no webhook has a caBundle that can be read.
func (t trust) empty() bool {
	return !slices.ContainsFunc(t.bundles, func(bundle []*x509.Certificate) bool { return len(bundle) > 0 })
}

// is says whether every webhook trusts exactly these, in whatever order.
func (t trust) is(want []*x509.Certificate) bool {
	return t.every(func(bundle []*x509.Certificate) bool {
		return len(bundle) == len(want) && !slices.ContainsFunc(want, func(w *x509.Certificate) bool { return !slices.ContainsFunc(bundle, w.Equal) })
	})
}

// accepts says whether API servers that are told so accept a server by this
// chain, its own certificate first.
func (t trust) accepts(chain []*x509.Certificate, host string, now time.Time) bool {
	return t.every(func(bundle []*x509.Certificate) bool { return verifies(chain, bundle, host, now) })
}

// refuses says whether there are webhooks, and none accepts a server by this chain.
func (t trust) refuses(chain []*x509.Certificate, host string, now time.Time) bool {
	return len(t.bundles) > 0 && !slices.ContainsFunc(t.bundles, func(bundle []*x509.Certificate) bool { return verifies(chain, bundle, host, now) })
}

// acceptsUntil is when the authorities run out by which they do; zero where they
// don't accept it now.
func (t trust) acceptsUntil(chain []*x509.Certificate, host string, now time.Time) time.Time {
	var first time.Time
	for _, bundle := range t.bundles {
		var last time.Time // of this webhook's, each is as good as another
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

// authorityEnd is when the first of those above the certificate itself runs out,
// or where it signed itself, it does.
func authorityEnd(chain []*x509.Certificate) time.Time {
	return slices.MinFunc(chain[min(1, len(chain)-1):], func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }).NotAfter
}

// ours are the authorities of ours that any webhook trusts and that are still valid.
func (t trust) ours(now time.Time) []*x509.Certificate {
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

// chains are the ways from a certificate to one of the authorities.
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

// settling remembers since when trust is as it is, by this process's own clock.
type settling struct {
	seen  trust
	since time.Time
}

// observe is told what was read last, and when.
func (s *settling) observe(t trust, now time.Time) {
	if s.since.IsZero() || t.uid != s.seen.uid || t.generation != s.seen.generation {
		s.seen, s.since = t, now
	}
}
