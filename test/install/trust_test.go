// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// trustWatch continuously reads which certificate each replica serves and which authorities each
// webhook trusts.
type trustWatch struct {
	tunnel *tunnel.Dialer
	settle time.Duration
	cancel context.CancelFunc
	done   sync.WaitGroup

	last map[string]*trustRecord // by pod
	// judged counts the changes of authority that were observed in time. unseen counts the other
	// changes.
	judged, unseen int
	wrong          []string
}

// trustRecord is a served certificate, with the caBundles that were read right after it.
type trustRecord struct {
	leaf *x509.Certificate
	// served is the time when the certificate was received. read is the time when the caBundles
	// were requested.
	served, read time.Time
	bundles      [][]*x509.Certificate
}

// watchTrust observes until the test ends the watch. Replicas change to another authority after
// it has been trusted for the settle time.
func watchTrust(t *testing.T, settle time.Duration) *trustWatch {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &trustWatch{tunnel: newTunnel(t), settle: settle, cancel: cancel, last: map[string]*trustRecord{}}
	t.Cleanup(w.end)
	w.done.Go(func() {
		for ctx.Err() == nil {
			w.read(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return w
}

func (w *trustWatch) end() {
	w.cancel()
	w.done.Wait()
}

// bothTrusted ends the watch. Whenever a replica changed to another authority, every webhook
// must have trusted both authorities before and after the change.
func (w *trustWatch) bothTrusted(t *testing.T) {
	t.Helper()
	w.end()
	t.Logf("observed %d changes of a replica's authority in time, %d too late", w.judged, w.unseen)
	for _, what := range w.wrong {
		t.Error(what)
	}
	if w.judged == 0 {
		t.Error("no change of the authority was observed in time")
	}
}

// read reads each replica once. It skips a replica that can't be reached.
func (w *trustWatch) read(ctx context.Context) {
	var pods corev1.PodList
	if err := admin.List(ctx, &pods, client.InNamespace(Namespace), client.MatchingLabels{"app.kubernetes.io/name": Name}); err != nil {
		return
	}
	for _, p := range pods.Items {
		leaf, err := servedBy(ctx, w.tunnel, p.Name)
		if err != nil {
			continue
		}
		now := &trustRecord{leaf: leaf, served: time.Now()}
		now.read = time.Now()
		if now.bundles, err = bundles(ctx); err != nil {
			continue
		}
		if before := w.last[p.Name]; before != nil {
			w.compare(p.Name, before, now)
		}
		w.last[p.Name] = now
	}
}

// compare checks the change between two reads of a replica.
func (w *trustWatch) compare(pod string, before, now *trustRecord) {
	all := slices.Concat(slices.Concat(before.bundles...), slices.Concat(now.bundles...))
	from, to := signer(before.leaf, all), signer(now.leaf, all)
	ends := before.leaf.NotAfter.Add(before.leaf.NotBefore.Sub(before.leaf.NotAfter) / 10)
	switch {
	case from == nil || to == nil:
		w.wrong = append(w.wrong, pod+" serves a certificate whose authority no webhook trusts")
		return
	case from.Equal(to):
		return
	case now.served.Sub(before.read) >= w.settle || now.served.After(ends):
		// The new authority may have been trusted after the first read, or the old certificate
		// was about to expire.
		w.unseen++
		return
	}
	w.judged++
	for when, bundles := range map[string][][]*x509.Certificate{"before": before.bundles, "after": now.bundles} {
		for _, trusted := range bundles {
			if !slices.ContainsFunc(trusted, from.Equal) || !slices.ContainsFunc(trusted, to.Equal) {
				w.wrong = append(w.wrong, pod+" went over to another authority, and "+when+" that not every webhook trusted both")
			}
		}
	}
}

// signer returns the authority that signed a certificate.
func signer(leaf *x509.Certificate, authorities []*x509.Certificate) *x509.Certificate {
	for _, a := range authorities {
		if leaf.CheckSignatureFrom(a) == nil {
			return a
		}
	}
	return nil
}

// bundles returns the certificates that each webhook trusts.
func bundles(ctx context.Context) ([][]*x509.Certificate, error) {
	var c admissionregistrationv1.MutatingWebhookConfiguration
	if err := admin.Get(ctx, client.ObjectKey{Name: Name}, &c); err != nil {
		return nil, err
	}
	var all [][]*x509.Certificate
	for _, w := range c.Webhooks {
		var trusted []*x509.Certificate
		for block, rest := pem.Decode(w.ClientConfig.CABundle); block != nil; block, rest = pem.Decode(rest) {
			cert, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, err
			}
			trusted = append(trusted, cert)
		}
		all = append(all, trusted)
	}
	return all, nil
}

func newTunnel(tb testing.TB) *tunnel.Dialer {
	tb.Helper()
	config, err := bed.RESTConfig()
	if err != nil {
		tb.Fatal(err)
	}
	return tunnel.New(config)
}

// servedBy returns the certificate that a replica serves.
func servedBy(ctx context.Context, tunnel *tunnel.Dialer, pod string) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	raw, err := tunnel.Dial(ctx, Namespace, pod, 9443)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	err = conn.HandshakeContext(ctx)
	certs := conn.ConnectionState().PeerCertificates
	_ = conn.Close() // the server may have closed it first
	if err == nil && len(certs) == 0 {
		err = errors.New("it has no certificate")
	}
	if err != nil {
		return nil, err
	}
	return certs[0], nil
}
