// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pass reads both objects, takes the Secret one step on, makes the webhooks
// trust what it says, and serves what may be served. It says whether something
// was written, so that there may be more to do.
//
// The order is what makes several replicas safe: trust is taken away only by a
// write that fails if the configuration has changed since it was read, and what
// to trust was read after it. An authority that another replica announced since
// then is not in the Secret that was read, but its caBundle isn't written yet
// either, or the write fails.
func (k *Keeper) pass(ctx context.Context) (bool, error) {
	configuration, err := k.objects.configuration(ctx)
	// Who may not see the configuration can't wait to be trusted. Who only can't now, waits.
	if err != nil && (k.files == nil || !apierrors.IsForbidden(err)) {
		return false, err
	}
	v := k.look(readTrust(configuration))
	if k.files != nil {
		// Whoever keeps the files sees to the caBundle, too. While it is empty nobody
		// else's replicas are trusted either: there is nothing to wait for.
		v.blind = err != nil
		k.serve(k.files.read(), v, v.trust.empty())
		return false, nil
	}
	secret, err := k.objects.secret(ctx)
	if err != nil {
		return false, err
	}
	st, wrote, err := k.advance(ctx, secret, v)
	if err == nil && !wrote {
		wrote, err = k.announce(ctx, configuration, st, v)
	}
	if wrote || raced(err) {
		return wrote, err
	}
	// Who may write neither serves what others have written, and is trusted, all the same.
	k.serve(st.serving(v), v, false)
	return false, err
}

// announce makes the webhooks trust what the state says, and says whether that had to be written.
func (k *Keeper) announce(ctx context.Context, configuration *admissionregistrationv1.MutatingWebhookConfiguration, st state, v sight) (bool, error) {
	want := st.trusted(v)
	if configuration == nil || v.trust.is(want) {
		return false, nil
	}
	if err := k.objects.writeBundle(ctx, configuration, encode(want...)); err != nil {
		return false, err
	}
	k.logger.Info("made the webhooks trust the certificate authorities of the Secret", "authorities", len(want))
	return true, nil
}

// look is what this replica sees at this moment.
func (k *Keeper) look(t trust) sight {
	local := k.clock.Now()
	k.settling.observe(t, local)
	v := sight{now: k.server.clock.Now(), host: k.host, trust: t, settled: local.Sub(k.settling.since) >= k.settings.Settle}
	if now := k.server.serving(); now.validAt(v.now) {
		v.servedBy = now.authority
	}
	return v
}

// advance takes the state one step on and writes it. Where nothing had to be
// written, it returns what the Secret has.
func (k *Keeper) advance(ctx context.Context, secret *corev1.Secret, v sight) (state, bool, error) {
	old := readState(secret)
	next, did, err := k.settings.next(v, old)
	if err != nil {
		return old, false, fmt.Errorf("renew the certificates: %w", err)
	}
	if secret == nil {
		secret = &corev1.Secret{Type: corev1.SecretTypeOpaque}
	} else {
		secret = secret.DeepCopy()
	}
	if !next.write(secret) {
		k.server.stuck(nil)
		return next, false, nil
	}
	err = k.objects.writeSecret(ctx, secret)
	// What was answered otherwise passes by itself, or says nothing of the Secret.
	if err == nil || apierrors.IsInvalid(err) {
		k.server.stuck(err)
	}
	if err != nil {
		return old, false, err
	}
	for _, what := range did {
		k.logger.Info(what)
	}
	return next, true, nil
}

// trusted are the authorities that the webhooks have to trust: those of the Secret, and
// where cainjector adds to them, what it has added. Replicas that serve by that are
// taking over from this one.
func (s state) trusted(v sight) []*x509.Certificate {
	all := s.authorities()
	if v.trust.injected {
		for _, c := range v.trust.ours(v.now) {
			if !s.trusts(c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// serving is the state's certificate as it can be served, nil where there is none.
func (s state) serving(v sight) *served {
	if s.authority == nil || s.leaf == nil || s.leaf.key == nil || !verifies([]*x509.Certificate{s.leaf.cert}, []*x509.Certificate{s.authority.cert}, v.host, v.now) {
		return nil
	}
	return &served{
		tls:       &tls.Certificate{Certificate: [][]byte{s.leaf.cert.Raw}, PrivateKey: s.leaf.key, Leaf: s.leaf.cert},
		chain:     []*x509.Certificate{s.leaf.cert},
		authority: s.authority.cert,
	}
}

// newServed takes a key pair as it was read.
func newServed(c *tls.Certificate, authority *x509.Certificate) (*served, error) {
	s := &served{tls: c, authority: authority}
	for _, der := range c.Certificate {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		s.chain = append(s.chain, cert)
	}
	return s, nil
}

// serve offers a certificate, if there is one, and notes who vouches for what is served.
func (k *Keeper) serve(candidate *served, v sight, unasked bool) {
	waited := k.server.waiting()
	if candidate != nil && k.server.offer(candidate, v, unasked) {
		leaf := candidate.chain[0]
		k.logger.Info("serving a new certificate", "sha256", fingerprint(leaf), "until", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	if waits := k.server.waiting(); waits != "" && waits != waited {
		k.logger.Info("a certificate isn't served yet", "why", waits)
	}
	k.server.vouched(v)
}
