// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// pass reads both objects, writes the next step to the Secret, makes the webhooks trust the
// Secret's authorities, and serves the certificate if that is allowed. It reports whether it
// wrote something, so that another pass may be needed.
//
// The order makes several replicas safe. Only a write that requires the configuration's
// version removes trust, and the Secret is read after the configuration. If another replica
// announces an authority between both reads, it is in the Secret that is read. If it does so
// later, either the caBundle doesn't have that authority yet, or the write fails.
func (k *Keeper) pass(ctx context.Context) (bool, error) {
	configuration, err := k.objects.configuration(ctx)
	// Without permission to read the configuration there is no trust to wait for. Other errors
	// pass.
	if err != nil && (k.files == nil || !apierrors.IsForbidden(err)) {
		return false, err
	}
	in := k.observe(readTrust(configuration))
	if k.files != nil {
		// The program that maintains the files also maintains the caBundle. While the caBundle is
		// empty, no other certificate is trusted either, so there is nothing to wait for.
		in.unreadable = err != nil
		k.serve(k.files.read(), in, in.trust.empty())
		return false, nil
	}
	secret, err := k.objects.secret(ctx)
	if err != nil {
		return false, err
	}
	st, wrote, err := k.advance(ctx, secret, in)
	if err == nil && !wrote {
		wrote, err = k.writeTrust(ctx, configuration, st, in)
	}
	if wrote || lostRace(err) {
		return wrote, err
	}
	// A replica that can't write still serves what other replicas have written.
	k.serve(st.servable(in), in, false)
	return false, err
}

// writeTrust makes the webhooks trust the authorities of the state. It reports whether it
// wrote the configuration.
func (k *Keeper) writeTrust(ctx context.Context, configuration *admissionregistrationv1.MutatingWebhookConfiguration, st state, in inputs) (bool, error) {
	want := st.bundle(in)
	if configuration == nil || in.trust.equals(want) {
		return false, nil
	}
	if err := k.objects.writeBundle(ctx, configuration, encode(want...)); err != nil {
		return false, err
	}
	k.logger.Info("the webhooks now trust the certificate authorities of the Secret", "authorities", len(want))
	return true, nil
}

// observe returns the inputs at this moment.
func (k *Keeper) observe(t trust) inputs {
	local := k.clock.Now()
	k.history.observe(t, local)
	in := inputs{now: k.server.clock.Now(), host: k.host, trust: t, settled: local.Sub(k.history.since) >= k.settings.Settle}
	if now := k.server.serving(); now.validAt(in.now) {
		in.servedBy = now.authority
	}
	return in
}

// advance computes the next step and writes it to the Secret. It returns the state of the
// Secret and reports whether it wrote it.
func (k *Keeper) advance(ctx context.Context, secret *corev1.Secret, in inputs) (state, bool, error) {
	old := readState(secret)
	next, done, err := k.settings.next(in, old)
	if err != nil {
		return old, false, fmt.Errorf("renew the certificates: %w", err)
	}
	if secret == nil {
		secret = &corev1.Secret{Type: corev1.SecretTypeOpaque}
	} else {
		secret = secret.DeepCopy()
	}
	if !next.write(secret) {
		k.server.setWriteErr(nil)
		return next, false, nil
	}
	err = k.objects.writeSecret(ctx, secret)
	// Other errors pass, or don't concern the Secret.
	if err == nil || apierrors.IsInvalid(err) {
		k.server.setWriteErr(err)
	}
	if err != nil {
		return old, false, err
	}
	for _, what := range done {
		k.logger.Info(what)
	}
	return next, true, nil
}

// bundle returns the authorities that the webhooks must trust: those of the Secret, and those
// that cainjector has added if it does so. Replicas with certificates of those replace this
// one.
func (s state) bundle(in inputs) []*x509.Certificate {
	all := s.authorities()
	if in.trust.injected {
		for _, c := range in.trust.ownAuthorities(in.now) {
			if !s.trusts(c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// servable returns the state's certificate, or nil if there is none that can be served.
func (s state) servable(in inputs) *servingCert {
	if s.authority == nil || s.leaf == nil || s.leaf.key == nil || !verifies([]*x509.Certificate{s.leaf.cert}, []*x509.Certificate{s.authority.cert}, in.host, in.now) {
		return nil
	}
	return &servingCert{
		tls:       &tls.Certificate{Certificate: [][]byte{s.leaf.cert.Raw}, PrivateKey: s.leaf.key, Leaf: s.leaf.cert},
		chain:     []*x509.Certificate{s.leaf.cert},
		authority: s.authority.cert,
	}
}

// newServingCert parses the chain of a key pair.
func newServingCert(c *tls.Certificate, authority *x509.Certificate) (*servingCert, error) {
	s := &servingCert{tls: c, authority: authority}
	for _, der := range c.Certificate {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		s.chain = append(s.chain, cert)
	}
	return s, nil
}

// serve serves the candidate, if there is one and it may be served, and records when the
// authority of the served certificate expires.
func (k *Keeper) serve(candidate *servingCert, in inputs, unconditional bool) {
	before := k.server.blocked()
	if candidate != nil && k.server.rotate(candidate, in, unconditional) {
		leaf := candidate.chain[0]
		k.logger.Info("serving a new certificate", "sha256", fingerprint(leaf), "until", format.Time(leaf.NotAfter))
	}
	if waitReason := k.server.blocked(); waitReason != "" && waitReason != before {
		k.logger.Info("a certificate is not served yet", "reason", waitReason)
	}
	k.server.updateAuthorityEnd(in)
}
