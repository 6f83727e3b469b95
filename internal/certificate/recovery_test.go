// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/rand"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestRecovery damages the objects at any time. Unless the caBundle itself is damaged, what
// was served before is still accepted.
func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		damage func(m *model)
		// fails reports that some admissions fail in any case.
		fails bool
	}{
		{name: "the Secret is deleted", damage: func(m *model) { m.secret = nil }},
		{name: "the Secret is garbage", damage: func(m *model) {
			for key := range m.secret.Data {
				m.secret.Data[key] = []byte("garbage")
			}
		}},
		{name: "the authority's key is lost", damage: func(m *model) { delete(m.secret.Data, authorityKeyKey) }},
		{name: "the certificate is removed", damage: func(m *model) { delete(m.secret.Data, corev1.TLSCertKey) }},
		{name: "the key isn't the certificate's", damage: func(m *model) { m.secret.Data[corev1.TLSPrivateKeyKey] = m.secret.Data[authorityKeyKey] }},
		{name: "the Secret of another installation", damage: func(m *model) {
			var st state
			st.authority = must(newAuthority(m.clock.Now(), time.Hour))
			st.leaf = must(st.authority.issue(m.clock.Now(), time.Hour, m.replicas[0].host))
			st.write(m.secret)
		}},
		{name: "an authority for clients", damage: func(m *model) {
			m.limit(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
		}},
		{name: "an authority for other names", damage: func(m *model) {
			m.limit(func(c *x509.Certificate) {
				c.PermittedDNSDomainsCritical, c.PermittedDNSDomains = true, []string{"example.com"}
			})
		}},
		{name: "another program's Secret, for TLS", damage: func(m *model) {
			m.secret = &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{corev1.TLSCertKey: []byte("garbage"), corev1.TLSPrivateKeyKey: nil}}
		}},
		{name: "the annotation is removed", damage: func(m *model) { m.secret.Annotations = nil }},
		{name: "the caBundle is emptied", fails: true, damage: func(m *model) { m.bundle(nil) }},
		{name: "one caBundle is garbage", fails: true, damage: func(m *model) { m.config.Webhooks[1].ClientConfig.CABundle = []byte("garbage"); m.changed() }},
		{name: "another program's caBundle", fails: true, damage: func(m *model) {
			m.bundle(must(newAuthority(m.clock.Now(), time.Hour)).certPEM)
		}},
		{name: "one more authority in the caBundle", damage: func(m *model) {
			m.bundle(append(m.config.Webhooks[0].ClientConfig.CABundle, must(newAuthority(m.clock.Now(), time.Hour)).certPEM...))
		}},
		{name: "the configuration is deleted and applied again", fails: true, damage: func(m *model) { m.config = nil; m.apply() }},
		{name: "both are deleted", fails: true, damage: func(m *model) { m.config, m.secret = nil, nil; m.apply() }},
		{name: "a long pause", fails: true, damage: func(m *model) { m.clock.Step(30 * 24 * time.Hour) }},
		{name: "the API server's clock goes back", fails: true, damage: func(m *model) { m.clock.SetTime(m.clock.Now().Add(-30 * 24 * time.Hour)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			eachSeed(t, 3, func(_ *testing.T, m *model) {
				m.run(m.random.IntN(1000), 40*time.Second)
				m.log("%s", row.name)
				m.disrupted = row.fails
				row.damage(m)
				if m.secret != nil {
					m.secret.ResourceVersion = m.next()
				}
				m.run(20, time.Second)
				m.awaitRecovery(row.name)
				m.resume()
				m.run(600, 40*time.Second)
				if !m.serving() || !readTrust(m.config).equals(readState(m.secret).authorities()) {
					m.fail("in the end not everything is served, or the webhooks trust other authorities than the Secret has")
				}
			})
		})
	}
}

// limit puts an authority into the Secret whose certificates API servers don't accept here.
func (m *model) limit(to func(*x509.Certificate)) {
	authority := must(newAuthority(m.clock.Now(), 20*time.Hour))
	template := *authority.cert
	to(&template)
	der := must(x509.CreateCertificate(rand.Reader, &template, &template, authority.key.Public(), authority.key))
	authority.certPEM = encode(must(x509.ParseCertificate(der)))
	state{authority: authority}.write(m.secret)
}

// TestImmutableSecret checks the readiness check while the Secret is immutable. A replica that
// starts reports what to do, and the others do when their certificate expires. After that they
// are ready.
func TestImmutableSecret(t *testing.T) {
	t.Parallel()
	eachSeed(t, 2, func(_ *testing.T, m *model) {
		m.secret = &corev1.Secret{Immutable: new(true), Data: map[string][]byte{corev1.TLSCertKey: []byte("garbage")}}
		m.secret.ResourceVersion = m.next()
		m.run(100, time.Second)
		m.startWith("c", nil)
		m.run(100, time.Second)
		for i, r := range m.replicas {
			if err := r.Check(nil); (err != nil) != (i == 2) {
				m.fail("with an immutable Secret, replica %s returns %v", r.name, err)
			}
		}
		m.disrupted = true
		m.clock.Step(m.settings.Life)
		m.run(100, time.Second)
		for _, r := range m.replicas {
			if err := r.Check(nil); !apierrors.IsInvalid(err) {
				m.fail("while nothing can be renewed, replica %s returns %v", r.name, err)
			}
		}
		m.secret = nil
		m.awaitRecovery("the deletion of the Secret")
		m.resume()
		m.run(200, time.Second)
		for _, r := range m.replicas {
			if err := errors.Join(r.Check(nil), r.server.writeErr); err != nil {
				m.fail("after the recovery, replica %s returns %v", r.name, err)
			}
		}
	})
}

// TestServesWithoutWrites checks that a replica that starts while an object can't be written
// serves the certificate that exists and is trusted.
func TestServesWithoutWrites(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		until func(m *model)
	}{
		{"the Secret", func(m *model) {
			m.secret.Immutable = new(true)
			m.clock.SetTime(readState(m.secret).leaf.cert.NotAfter.Add(-m.settings.Life / 4))
		}},
		{"the configuration", func(m *model) {
			m.bundle(append(m.config.Webhooks[0].ClientConfig.CABundle, readState(m.secret).leaf.certPEM...))
			m.forbidden = true
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			eachSeed(t, 2, func(_ *testing.T, m *model) {
				m.run(200, time.Second)
				row.until(m)
				m.start("c")
				m.run(60, time.Second)
				if err := m.replicas[2].Check(nil); err != nil || !m.serving() {
					m.fail("where %s can't be written, a new replica returns %v", row.name, err)
				}
			})
		})
	}
}

// TestWithoutWebhooks removes all webhooks from the configuration, as a user may do to switch
// admission off. Replicas continue to serve and become ready, don't write the configuration, and
// webhooks that are added again trust them.
func TestWithoutWebhooks(t *testing.T) {
	t.Parallel()
	eachSeed(t, 3, func(_ *testing.T, m *model) {
		webhooks := m.config.Webhooks
		m.config.Webhooks = nil
		m.changed()
		m.resume()
		was := m.config.ResourceVersion
		m.start("c")
		m.awaitRecovery("the webhooks are removed and a replica starts")
		m.run(2000, 40*time.Second)
		if !m.serving() || m.config.ResourceVersion != was {
			m.fail("not everything is served, or the configuration without webhooks was written")
		}
		m.secret = nil
		m.replicas[0].stop()
		m.replicas = m.replicas[1:]
		m.start("d")
		m.awaitRecovery("the Secret is deleted, too")
		m.config.Webhooks, m.disrupted = webhooks, true
		m.changed()
		m.awaitRecovery("they are added again")
		m.resume()
		m.run(600, 40*time.Second)
		if !m.serving() {
			m.fail("in the end not everything is served")
		}
	})
}
