// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// webhookPort is the name of the port that the API server calls.
const webhookPort = "webhooks"

// handshakeTimeout limits the TLS handshake with a replica.
const handshakeTimeout = 5 * time.Second

// readCertificates reads the certificate of every running replica, and verifies it with the
// caBundle of every webhook, as the API server does. It includes replicas that aren't Ready,
// because the certificate may be the reason.
func (l *Inspector) readCertificates(ctx context.Context) error {
	for i := range l.pods {
		r := &l.st.Program.Replicas[i]
		if !running(&l.pods[i]) {
			r.Silence = "it is not running"
			continue
		}
		chain, err := l.served(ctx, &l.pods[i])
		if apierrors.IsForbidden(err) {
			r.Silence = err.Error()
			l.st.Unseen = append(l.st.Unseen, v1alpha1.Unseen{What: unseenCertificates, Why: err.Error()})
			return nil
		}
		if err != nil {
			r.Silence = err.Error()
			continue
		}
		r.Certificate = l.certificate(chain)
	}
	return nil
}

func running(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Running != nil })
}

// served returns the certificate chain of a replica, its own certificate first.
func (l *Inspector) served(ctx context.Context, pod *corev1.Pod) ([]*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn, err := l.tunnel.Dial(ctx, pod.Namespace, pod.Name, portOf(pod))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	client := tls.Client(conn, &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // distrust verifies the chain for each webhook
		MinVersion:         tls.VersionTLS12,
	})
	if err := client.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("the TLS handshake failed: %w", err)
	}
	return client.ConnectionState().PeerCertificates, nil
}

// portOf returns the number of the port for admission reviews. The default is 9443.
func portOf(pod *corev1.Pod) int {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == webhookPort {
				return int(p.ContainerPort)
			}
		}
	}
	return 9443
}

func (l *Inspector) certificate(chain []*x509.Certificate) *v1alpha1.ServingCertificate {
	leaf := chain[0]
	out := &v1alpha1.ServingCertificate{
		Names: leaf.DNSNames, Issuer: leaf.Issuer.String(),
		NotBefore: metav1.NewTime(leaf.NotBefore), NotAfter: metav1.NewTime(leaf.NotAfter),
	}
	webhooks := map[string][]string{} // by the reason of distrust
	var order []string
	for _, w := range l.webhooks {
		if w.client.Service == nil {
			continue
		}
		host := w.client.Service.Name + "." + w.client.Service.Namespace + ".svc"
		why := distrust(chain, w.client.CABundle, host, l.serverClock.Now())
		if why == "" {
			continue
		}
		if webhooks[why] == nil {
			order = append(order, why)
		}
		webhooks[why] = append(webhooks[why], strings.TrimSuffix(w.name, entries.Suffix))
	}
	for _, why := range order {
		out.Distrusted = append(out.Distrusted, strings.Join(webhooks[why], ", ")+": "+why)
	}
	return out
}

// distrust returns why the API server would not trust a chain. It is empty if it would.
func distrust(chain []*x509.Certificate, bundle []byte, host string, now time.Time) string {
	if len(bundle) == 0 {
		return "the caBundle is empty"
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return "the caBundle has no valid certificate"
	}
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between, CurrentTime: now})
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknown):
		return fmt.Sprintf("no authority in the caBundle issued it (its issuer is %s)", chain[0].Issuer)
	case errors.As(err, &name):
		return fmt.Sprintf("it is valid for %[2]s, but not for %[1]s", host, strings.Join(chain[0].DNSNames, ", "))
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}

// authorityExpiry returns when the last authority of a bundle expires. It is nil if the bundle
// has none.
func authorityExpiry(bundle []byte) *metav1.Time {
	var last time.Time
	for block, rest := pem.Decode(bytes.TrimSpace(bundle)); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && c.NotAfter.After(last) {
			last = c.NotAfter
		}
	}
	if last.IsZero() {
		return nil
	}
	return &metav1.Time{Time: last}
}

// FirstExpiry returns the certificate that expires first. It is nil if none is known.
func FirstExpiry(replicas []v1alpha1.WebhookReplica) *v1alpha1.ServingCertificate {
	var certificates []*v1alpha1.ServingCertificate
	for _, r := range replicas {
		if r.Certificate != nil {
			certificates = append(certificates, r.Certificate)
		}
	}
	if len(certificates) == 0 {
		return nil
	}
	return slices.MinFunc(certificates, func(a, b *v1alpha1.ServingCertificate) int { return a.NotAfter.Compare(b.NotAfter.Time) })
}
