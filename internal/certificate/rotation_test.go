// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
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
