// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// seeds returns the seeds of a test of the model: SEED=7 repeats one, SEEDS=1000 runs more.
func seeds(t *testing.T, many uint64) []uint64 {
	t.Helper()
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if text := os.Getenv("SEED"); text != "" {
		return []uint64{number(text)}
	}
	if text := os.Getenv("SEEDS"); text != "" {
		many = number(text)
	}
	var all []uint64
	for seed := range many {
		all = append(all, seed)
	}
	return all
}

func eachSeed(t *testing.T, many uint64, test func(t *testing.T, m *model)) {
	t.Helper()
	for _, seed := range seeds(t, many) {
		t.Run(fmt.Sprintf("SEED=%d", seed), func(t *testing.T) {
			t.Parallel()
			test(t, installed(t, seed))
		})
	}
}

// installed returns a model with two replicas that were started together and serve.
func installed(t *testing.T, seed uint64) *model {
	t.Helper()
	m := newModel(t, seed)
	m.disrupted = true
	m.start("a")
	m.start("b")
	m.awaitRecovery("the installation")
	m.resume()
	return m
}

// TestRotationFailsNoAdmission lets two replicas renew certificates and authorities for days,
// in all orders of requests that the seeds produce.
func TestRotationFailsNoAdmission(t *testing.T) {
	t.Parallel()
	eachSeed(t, 8, func(_ *testing.T, m *model) {
		first := readState(m.secret)
		m.run(3000, 40*time.Second)
		last := readState(m.secret)
		if first.authority.cert.Equal(last.authority.cert) || !m.serving() {
			m.fail("after %s the authority is the same, or something isn't served", m.clock.Since(first.authority.cert.NotBefore))
		}
	})
}

// TestSlowReplicaFailsNoAdmission pauses a replica at each request of its passes while the
// other one changes the authority. It then proceeds with what it read before.
func TestSlowReplicaFailsNoAdmission(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		left  time.Duration  // until the authority is due
		start func(m *model) // of the change
	}{
		{"the authority is due", 2 * time.Minute, func(m *model) { m.clock.Step(2 * time.Minute) }},
		{"the Secret is deleted", time.Hour, func(m *model) { m.secret = nil }},
	} {
		for at := range 8 {
			for _, long := range []int{4, 8, 40} {
				t.Run(fmt.Sprintf("%s after %d requests, for %d", row.name, at, long), func(t *testing.T) {
					t.Parallel()
					m := installed(t, uint64(at))
					before := readState(m.secret).authority.cert
					m.clock.SetTime(before.NotAfter.Add(-m.settings.AuthorityLife/3 - row.left))
					m.disrupted = true // the certificate may have expired meanwhile
					m.run(40, time.Second)
					m.resume()
					m.runOnly(1, at, time.Second)
					row.start(m)
					m.runOnly(0, long, 40*time.Second)
					m.runOnly(1, 30, time.Second)
					m.runOnly(0, 30, 40*time.Second)
					m.run(100, 40*time.Second)
					if readState(m.secret).authority.cert.Equal(before) {
						m.fail("the authority is still the same")
					}
				})
			}
		}
	}
}

// TestRestartsFailNoAdmission does the same with replicas that restart and a third one.
func TestRestartsFailNoAdmission(t *testing.T) {
	t.Parallel()
	eachSeed(t, 6, func(_ *testing.T, m *model) {
		for i := range 20 {
			m.run(100, 40*time.Second)
			m.replicas[0].stop()
			m.replicas = m.replicas[1:]
			m.start(fmt.Sprintf("c%d", i))
		}
		m.awaitRecovery("restarts")
	})
}

// TestPartialRolloutOfLifetimes stops a rollout to shorter lifetimes half-way. The old replica
// then considers the new one's certificates too short-lived, and the new replica considers the
// old one's too long-lived.
func TestPartialRolloutOfLifetimes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		before, next Settings
	}{
		{"certificates", Settings{time.Hour, 4 * time.Hour, time.Minute}, Settings{20 * time.Minute, 4 * time.Hour, time.Minute}},
		{"authorities, too", DefaultSettings(), Settings{6 * time.Minute, 18 * time.Minute, time.Minute}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			eachSeed(t, 2, func(_ *testing.T, m *model) {
				m.replicas[0].settings, m.replicas[1].settings = row.before, row.next
				issued, last, began := 0, readState(m.secret).leaf.cert, m.clock.Now()
				for range 2000 {
					m.run(1, 40*time.Second)
					if now := readState(m.secret).leaf; now != nil && !now.cert.Equal(last) {
						issued, last = issued+1, now.cert
					}
				}
				// Each of them issues one in each of the shorter lives, and one by each authority.
				lives := int(m.clock.Since(began) / row.next.Life)
				if issued < lives || issued > 4*lives {
					m.fail("in %d lives %d certificates were issued", lives, issued)
				}
				// Wait for the longest of the new lives, and some settle times.
				m.stopOldest(1)
				for end := m.clock.Now().Add(25 * time.Minute); m.clock.Now().Before(end); {
					m.run(1, 10*time.Second)
				}
				st := readState(m.secret)
				if now := m.clock.Now(); st.leaf.cert.NotAfter.Sub(now) > row.next.Life || st.authority.cert.NotAfter.Sub(now) > row.next.AuthorityLife {
					m.fail("at %s one that was created with a longer life is left, until %s and %s", now, st.leaf.cert.NotAfter, st.authority.cert.NotAfter)
				}
			})
		})
	}
}

// TestSwitchToCertManagerAndBack lets cert-manager take over the certificates, and then goes
// back to our own, whose Secret still exists. Each time, replicas of both installations serve
// at the same time for a while.
func TestSwitchToCertManagerAndBack(t *testing.T) {
	t.Parallel()
	eachSeed(t, 8, func(_ *testing.T, m *model) {
		theirs := must(newAuthority(m.clock.Now(), 20*time.Hour))
		leaf := must(theirs.issue(m.clock.Now(), 20*time.Hour, m.replicas[0].host))
		m.config.Annotations = map[string]string{injectPrefix + "ca-from": "a Certificate"}
		m.changed()
		for _, name := range []string{"cert-manager's a", "cert-manager's b"} {
			m.startWith(name, &files{last: must(newServingCert(&tls.Certificate{Certificate: [][]byte{leaf.cert.Raw}}, nil))})
		}
		m.run(m.random.IntN(100), time.Second)
		for range 20 {
			m.inject(theirs)
			m.run(20, 20*time.Second)
		}
		m.awaitRecovery("cert-manager")
		m.stopOldest(2)
		m.run(100, 20*time.Second)
		m.config.Annotations = nil
		m.changed()
		m.start("c")
		m.start("d")
		m.run(200, time.Second)
		m.stopOldest(2)
		m.awaitRecovery("going back")
		m.run(1200, 40*time.Second)
		if !m.serving() || readTrust(m.config).includes(theirs.cert) {
			m.fail("in the end not everything is served, or cert-manager's authority is still trusted")
		}
	})
}

// inject does what cert-manager's cainjector does: it adds to a caBundle and removes nothing
// that is valid.
func (m *model) inject(authority *pair) {
	if !readTrust(m.config).includes(authority.cert) {
		m.log("cainjector adds its authority")
		m.bundle(append(slices.Clone(m.config.Webhooks[0].ClientConfig.CABundle), authority.certPEM...))
	}
}

// stopOldest stops the n replicas that were started first.
func (m *model) stopOldest(n int) {
	for _, r := range m.replicas[:n] {
		r.stop()
	}
	m.replicas = m.replicas[n:]
}

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

func (m *model) bundle(bundle []byte) {
	for i := range m.config.Webhooks {
		m.config.Webhooks[i].ClientConfig.CABundle = bundle
	}
	m.changed()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
