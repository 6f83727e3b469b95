// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"context"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
)

// model is a cluster: the two objects with their versions, API servers that receive the
// configuration late, and replicas that make the real passes. A seed decides which replica
// makes the next read or write.
type model struct {
	t        *testing.T
	random   *rand.Rand
	clock    *clocktesting.FakeClock
	settings Settings
	version  int
	config   *admissionregistrationv1.MutatingWebhookConfiguration
	secret   *corev1.Secret
	replicas []*modelReplica
	// known is the trust that some API server may still have: the present one, and those
	// that were replaced within lag.
	known []knownTrust
	lag   time.Duration
	// disrupted reports that admissions may fail for a while, because the installation is new
	// or a user interfered. Failures are then not counted.
	disrupted bool
	// forbidden reports that no replica may write the configuration.
	forbidden bool
	// signed caches which authority signed which certificate, because the check is slow.
	signed map[[2]string]bool
	events []string // printed after a failure
}

type knownTrust struct {
	trust
	replaced time.Time // zero for the present one
}

func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 1)),
		clock:    clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		settings: Settings{Life: time.Hour, AuthorityLife: 4 * time.Hour, Settle: time.Minute},
		lag:      50 * time.Second, signed: map[[2]string]bool{},
	}
	m.apply()
	return m
}

func (m *model) log(format string, args ...any) {
	m.events = append(m.events, m.clock.Now().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// apply does what kubectl apply of the manifests does. They have no caBundle.
func (m *model) apply() {
	if m.config == nil {
		m.config = &admissionregistrationv1.MutatingWebhookConfiguration{
			Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "a"}, {Name: "b"}},
		}
		m.config.Name, m.config.UID = "etcd-webhook", types.UID(m.next())
		m.changed()
	}
}

func (m *model) next() string {
	m.version++
	return strconv.Itoa(m.version)
}

// changed gives the configuration a new version, which API servers receive within lag.
func (m *model) changed() {
	m.config.Generation++
	m.config.ResourceVersion = m.next()
	m.replace(readTrust(m.config))
}

func (m *model) replace(t trust) {
	if len(m.known) > 0 {
		m.known[len(m.known)-1].replaced = m.clock.Now()
	}
	m.known = append(m.known, knownTrust{trust: t})
}

// resume counts failed admissions again: every API server has received what a user has
// changed.
func (m *model) resume() {
	m.known, m.disrupted = nil, false
	m.replace(readTrust(m.config))
}

func (m *model) start(name string) { m.startWith(name, nil) }

// startWith starts a replica, which serves another program's files if there are any.
func (m *model) startWith(name string, f *files) {
	ctx, cancel := context.WithCancel(m.t.Context())
	r := &modelReplica{m: m, name: name, proceed: make(chan struct{}), paused: make(chan struct{}), stop: cancel}
	r.Keeper = &Keeper{
		settings: m.settings, host: "etcd-webhook.kubectl-etcd-system.svc", objects: r, files: f,
		clock: m.clock, logger: logr.Discard(), server: &server{clock: m.clock}, changed: make(chan struct{}, 1),
	}
	m.replicas = append(m.replicas, r)
	go func() {
		for {
			if _, err := r.pass(ctx); ctx.Err() != nil {
				return
			} else if err != nil && !lostRace(err) {
				m.log("%s: %v", name, err)
			}
			if r.pause(ctx) != nil {
				return
			}
		}
	}()
	<-r.paused
}

// valid reports whether the API server accepts a Secret: one for TLS has both keys, and an
// immutable one doesn't change.
func (m *model) valid(s *corev1.Secret) bool {
	_, cert := s.Data[corev1.TLSCertKey]
	_, key := s.Data[corev1.TLSPrivateKeyKey]
	return (s.Type != corev1.SecretTypeTLS || cert && key) && (m.secret == nil || !ptr.Deref(m.secret.Immutable, false))
}

// check is the invariant of all tests here: every API server, whichever trust it may have,
// accepts what every replica serves.
func (m *model) check() {
	if m.disrupted {
		return
	}
	now := m.clock.Now()
	m.known = slices.DeleteFunc(m.known, func(k knownTrust) bool { return !k.replaced.IsZero() && now.Sub(k.replaced) > m.lag })
	for _, r := range m.replicas {
		s := r.server.serving()
		if !s.validAt(now) {
			continue
		}
		for _, k := range m.known {
			if !m.accepts(k.trust, s.chain[0]) {
				m.fail("%s serves a certificate that is refused by an API server that trusts %s (replaced %s)", r.name, names(k.bundles[0]), k.replaced)
			}
		}
	}
}

// accepts is a second implementation of trust.accepts: every webhook has a valid authority
// that signed the certificate. A configuration that doesn't exist has no webhooks.
func (m *model) accepts(t trust, leaf *x509.Certificate) bool {
	return !slices.ContainsFunc(t.bundles, func(bundle []*x509.Certificate) bool {
		return !slices.ContainsFunc(bundle, func(a *x509.Certificate) bool {
			key := [2]string{string(leaf.Raw), string(a.Raw)}
			by, known := m.signed[key]
			if !known {
				by = leaf.CheckSignatureFrom(a) == nil
				m.signed[key] = by
			}
			return by && isAuthority(a, m.clock.Now())
		})
	})
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	for _, line := range m.events[max(0, len(m.events)-60):] {
		m.t.Log(line)
	}
	m.t.Fatalf(format, args...)
}

func names(certs []*x509.Certificate) []string {
	var all []string
	for _, c := range certs {
		all = append(all, fingerprint(c)[:11])
	}
	return all
}

// run lets replicas make requests in random order, while time passes.
func (m *model) run(steps int, pass time.Duration) {
	m.t.Helper()
	for range steps {
		m.runOnly(m.random.IntN(len(m.replicas)), 1, pass)
	}
}

// runOnly lets one replica make requests while the others are paused between two requests.
func (m *model) runOnly(replica, steps int, pass time.Duration) {
	m.t.Helper()
	for range steps {
		m.replicas[replica].step()
		m.check()
		if m.random.IntN(4) == 0 {
			m.clock.Step(time.Duration(m.random.Int64N(int64(pass))))
			m.check()
		}
	}
}

// serving reports whether every replica serves a valid certificate that is accepted.
func (m *model) serving() bool {
	now := m.clock.Now()
	return !slices.ContainsFunc(m.replicas, func(r *modelReplica) bool {
		s := r.server.serving()
		return !s.validAt(now) || m.config == nil || !m.accepts(readTrust(m.config), s.chain[0])
	})
}

// awaitRecovery lets time pass until every replica serves, and fails if that takes long.
func (m *model) awaitRecovery(what string) {
	m.t.Helper()
	for range 200 {
		m.run(10, time.Second)
		if m.serving() {
			return
		}
	}
	m.fail("after %s, not every replica serves a certificate that is accepted", what)
}
