// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

const testHost = "etcd-webhook.kubectl-etcd-system.svc"

// leafOf returns a certificate as a replica serves it.
func leafOf(t *testing.T, authority *pair, now time.Time, life time.Duration, known bool) *servingCert {
	t.Helper()
	leaf := must(authority.issue(now, life, testHost))
	c := must(tls.X509KeyPair(leaf.certPEM, leaf.keyPEM))
	var by *x509.Certificate
	if known {
		by = authority.cert
	}
	return must(newServingCert(&c, by))
}

func TestRotate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	one, two := must(newAuthority(now, 1000*time.Hour)), must(newAuthority(now, 1000*time.Hour))
	trusts := func(all ...*pair) trust {
		var bundle []*x509.Certificate
		for _, p := range all {
			bundle = append(bundle, p.cert)
		}
		return trust{uid: "x", generation: 1, bundles: [][]*x509.Certificate{bundle, bundle}}
	}
	ofOne, ofTwo, renewed := leafOf(t, one, now, 100*time.Hour, true), leafOf(t, two, now, 100*time.Hour, true), leafOf(t, one, now, 200*time.Hour, true)
	ending := leafOf(t, one, now, 30*time.Minute, true)
	ending.chain[0].NotBefore = now.Add(-100 * time.Hour) // so that its margin is an hour
	fileOne, fileTwo := leafOf(t, one, now, 100*time.Hour, false), leafOf(t, two, now, 100*time.Hour, false)
	for _, row := range []struct {
		name          string
		old, new      *servingCert
		inputs        inputs
		unconditional bool
		// othersTrusted reports that other authorities were trusted before.
		othersTrusted bool
		want          bool
	}{
		{name: "the first, trusted", new: ofOne, inputs: inputs{trust: trusts(one)}, want: true},
		{name: "the first, not trusted", new: ofOne, inputs: inputs{trust: trusts(two), settled: true}},
		{name: "the first, no configuration", new: ofOne},
		{name: "the first, trusted by one webhook of two", new: ofOne, inputs: inputs{trust: trust{uid: "x", bundles: [][]*x509.Certificate{{one.cert}, {two.cert}}}, settled: true}},
		{name: "the first of files, not trusted", new: fileOne, unconditional: true, want: true},
		{name: "the first of files, where others are trusted", new: fileOne, inputs: inputs{trust: trusts(two), settled: true}},
		{name: "the first of files, trusted beside others just now", new: fileOne, inputs: inputs{trust: trusts(two, one)}, othersTrusted: true},
		{name: "the first of files, trusted beside others for the settle time", new: fileOne, inputs: inputs{trust: trusts(two, one), settled: true}, othersTrusted: true, want: true},
		{name: "the same", old: ofOne, new: ofOne, inputs: inputs{trust: trusts(one), settled: true}},
		{name: "renewed by the same authority", old: ofOne, new: renewed, want: true},
		{name: "by another, settled", old: ofOne, new: ofTwo, inputs: inputs{trust: trusts(one, two), settled: true}, want: true},
		{name: "by another, not settled", old: ofOne, new: ofTwo, inputs: inputs{trust: trusts(one, two)}},
		{name: "by another, not trusted", old: ofOne, new: ofTwo, inputs: inputs{trust: trusts(one), settled: true}},
		{name: "by another, while the current one expires", old: ending, new: ofTwo, inputs: inputs{trust: trusts(one, two)}, want: true},
		{name: "files by another, settled", old: fileOne, new: fileTwo, inputs: inputs{trust: trusts(one, two), settled: true}, unconditional: true, want: true},
		{name: "files by another, not settled", old: fileOne, new: fileTwo, inputs: inputs{trust: trusts(one, two)}, unconditional: true},
		{name: "files by another, never trusted", old: fileOne, new: fileTwo, inputs: inputs{trust: trusts(one), settled: true}, unconditional: true},
		{name: "files by another, without permission to read the configuration", old: fileOne, new: fileTwo, inputs: inputs{unreadable: true}, unconditional: true, want: true},
		{name: "files by another, when no webhook accepts the current one", old: fileOne, new: fileTwo, inputs: inputs{trust: trusts(two)}, want: true},
		{name: "files by another, while one webhook accepts only the current one", old: fileOne, new: fileTwo, inputs: inputs{trust: trust{uid: "x", bundles: [][]*x509.Certificate{{two.cert}, {one.cert}}}}},
		{name: "files by another, while one webhook accepts both", old: fileOne, new: fileTwo, inputs: inputs{trust: trust{uid: "x", bundles: [][]*x509.Certificate{{two.cert}, {one.cert, two.cert}}}}},
		{name: "files by another, where neither is accepted", old: fileOne, new: fileTwo, inputs: inputs{trust: trusts(must(newAuthority(now, 1000*time.Hour)))}},
		{name: "files by another, where there are no webhooks", old: fileOne, new: fileTwo, inputs: inputs{trust: trust{uid: "x"}}},
		{name: "an expired one", old: ofOne, new: leafOf(t, one, now.Add(-time.Hour), time.Minute, true), inputs: inputs{trust: trusts(one), settled: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &server{clock: clocktesting.NewFakePassiveClock(now), current: row.old, othersTrusted: row.othersTrusted}
			row.inputs.now, row.inputs.host = now, testHost
			if got := s.rotate(row.new, row.inputs, row.unconditional); got != row.want {
				t.Errorf("it is served: %v (%s)", got, s.waitReason)
			}
		})
	}
}

// TestServeLogs checks that the log has once why a certificate isn't served, and once that it
// is.
func TestServeLogs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	authority := must(newAuthority(now, 1000*time.Hour))
	c, s := leafOf(t, authority, now, 168*time.Hour, true), &server{clock: clocktesting.NewFakePassiveClock(now)}
	var logged []string
	k := &Keeper{server: s, logger: funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})}
	in := inputs{now: now, host: testHost}
	for range 3 {
		k.serve(c, in, false)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "not every webhook of the configuration trusts its authority") {
		t.Errorf("while it waits the log has %q", logged)
	}
	in.trust = trust{uid: "x", bundles: [][]*x509.Certificate{{authority.cert}}}
	k.serve(c, in, false)
	if len(logged) != 2 || !strings.Contains(logged[1], "serving a new certificate") {
		t.Errorf("the log has %q", logged)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(now)
	s := &server{clock: clock}
	if err := s.Check(nil); err == nil {
		t.Error("ready without a certificate")
	}
	s.current = leafOf(t, must(newAuthority(now, 1000*time.Hour)), now, 168*time.Hour, true)
	for _, row := range []struct {
		left time.Duration
		want bool
	}{{168 * time.Hour, true}, {61 * time.Minute, true}, {time.Hour, false}, {-time.Hour, false}} {
		clock.SetTime(s.current.chain[0].NotAfter.Add(-row.left))
		if err := s.Check(nil); (err == nil) != row.want {
			t.Errorf("%s before it expires: %v", row.left, err)
		}
		// cert-manager may issue certificates that expire after their authority.
		s.authorityEnd = s.current.chain[0].NotAfter.Add(-24 * time.Hour)
		clock.SetTime(s.authorityEnd.Add(-row.left))
		if err := s.Check(nil); (err == nil) != row.want || err != nil && !strings.Contains(err.Error(), "'s authority expires at 2026-01-07T00:00:00Z") {
			t.Errorf("%s before its authority expires: %v", row.left, err)
		}
		s.authorityEnd = time.Time{}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := &server{}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(s)
	if none, err := r.Gather(); len(none) != 0 || err != nil {
		t.Errorf("metrics without a certificate: %v, %v", none, err)
	}
	now := time.Unix(1_000_000_000, 0)
	authority := must(newAuthority(now, 1000*time.Hour))
	// The signer of another program's files is known from the webhooks only.
	s.current = leafOf(t, authority, now, time.Hour, false)
	both := []*x509.Certificate{must(newAuthority(now, 2000*time.Hour)).cert, authority.cert}
	s.updateAuthorityEnd(inputs{now: now, host: testHost, trust: trust{bundles: [][]*x509.Certificate{both, both[1:]}}})
	s.updateAuthorityEnd(inputs{now: now, host: testHost, trust: trust{bundles: [][]*x509.Certificate{both, both[:1]}}}) // the last value stays
	got := map[string]float64{}
	for _, family := range must(r.Gather()) {
		got[family.GetName()] = family.GetMetric()[0].GetGauge().GetValue()
	}
	want := map[string]float64{
		"kubectl_etcd_webhook_certificate_expiry_timestamp_seconds":           1_000_003_600,
		"kubectl_etcd_webhook_certificate_authority_expiry_timestamp_seconds": 1_003_600_000,
	}
	if !maps.Equal(got, want) {
		t.Errorf("it serves %v, want %v", got, want)
	}
}

// TestFiles checks that files of another program are served, and read again after a change.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	authority := must(newAuthority(now, time.Hour))
	put := func() *pair {
		leaf := must(authority.issue(now, time.Hour, testHost))
		for name, text := range map[string][]byte{"tls.crt": leaf.certPEM, "tls.key": leaf.keyPEM} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return leaf
	}
	if _, err := New(&rest.Config{}, Options{Dir: dir, Logger: logr.Discard()}); err == nil {
		t.Error("a folder without files is accepted")
	}
	first := put()
	changed := make(chan struct{}, 8)
	f := must(watchFiles(dir, func() { changed <- struct{}{} }))
	<-changed
	if got := f.read().chain[0]; !got.Equal(first.cert) {
		t.Errorf("it read %s", fingerprint(got))
	}
	second := put()
	if err := f.ReadCertificate(); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got := f.read().chain[0]; !got.Equal(second.cert) {
		t.Errorf("it read %s again", fingerprint(got))
	}
}
