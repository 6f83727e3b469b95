// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/tls"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// Endpoint is the address of one member and the credentials for it.
type Endpoint struct {
	Namespace, Pod string
	// Err is why this member can't be reached according to its pod's configuration. Then
	// only Name and PeerURLs may be set below.
	Err error
	// Name and PeerURLs are the member's in the pod's configuration. Each is empty if the
	// configuration doesn't contain it.
	Name     string
	PeerURLs []string
	// Port is the port for clients. Address is the IP to dial it at directly, empty for a
	// port-forward.
	Port    int
	Address string
	// TLS is nil if the member serves clients without TLS. It verifies the member's
	// certificate by the names that this member can have.
	TLS *tls.Config
	// Username and Password are empty if authentication is disabled or uses certificates.
	Username, Password string
	// MetricsPort is the port for metrics, 0 for Port. MetricsTLS is nil if metrics are
	// served without TLS. MetricsErr is why metrics can't be read although clients are served.
	MetricsPort    int
	MetricsAddress string
	MetricsTLS     *tls.Config
	MetricsErr     error

	// PasswordFrom describes where Password was read from. PasswordErr is why the password in
	// the pod's configuration could not be read: it only matters if etcd asks for one.
	PasswordFrom string
	PasswordErr  error
	// ClientCertificate describes the client certificate that TLS presents, empty for none.
	ClientCertificate string
}

// Endpoints returns the endpoints of the members whose pods exist, in the order of the pods.
// It takes credentials from c, otherwise from what the pods use. It fails only if no endpoint
// can be found. An endpoint that can't be found has its Err set.
func Endpoints(ctx context.Context, r *observe.Reader, o owner.Owner, c Credentials) ([]Endpoint, error) {
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return nil, err
	}
	services, err := memberservices.OfClients(ctx, r, o)
	if err != nil && !apierrors.IsForbidden(err) { // they only add names that a certificate can have
		return nil, err
	}
	f := finder{reader: r, files: podfiles.New(r, o.Namespace), owner: o, given: c, services: services}
	return f.endpoints(ctx, pods)
}

// EndpointsOf returns the endpoints of pods that may run members beside those of the owner's pods, as Endpoints does.
func EndpointsOf(ctx context.Context, r *observe.Reader, o owner.Owner, c Credentials, pods []*corev1.Pod) ([]Endpoint, error) {
	f := finder{reader: r, files: podfiles.New(r, o.Namespace), owner: o, given: c}
	return f.endpoints(ctx, pods)
}

func (f *finder) endpoints(ctx context.Context, pods []*corev1.Pod) ([]Endpoint, error) {
	out := make([]Endpoint, len(pods))
	for i, pod := range pods {
		out[i] = Endpoint{Namespace: pod.Namespace, Pod: pod.Name}
		out[i].Err = f.fill(ctx, pod, &out[i])
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	works := func(e Endpoint) bool { return e.Err == nil }
	if len(out) > 0 && !slices.ContainsFunc(out, works) {
		return nil, out[0].Err
	}
	return out, nil
}

// Transient reports whether the settings of an endpoint are not known because an object could not be read
// which the next read may find.
func Transient(endpoints []Endpoint) bool {
	return slices.ContainsFunc(endpoints, func(e Endpoint) bool {
		return podfiles.Transient(e.Err) || podfiles.Transient(e.MetricsErr) || podfiles.Transient(e.PasswordErr)
	})
}

// fill sets the fields of the pod's endpoint.
func (f *finder) fill(ctx context.Context, pod *corev1.Pod, e *Endpoint) error {
	s, known, err := f.config(ctx, pod)
	if err != nil {
		return err
	}
	if s.Unknown["name"] == "" {
		e.Name = s.Name
	}
	if known {
		e.PeerURLs = s.PeerURLs()
	}
	at, metrics, err := f.listeners(pod, s, known)
	if err != nil {
		return err
	}
	var secure *tls.Config
	if at.secure || metrics.secure {
		var client *pair
		if secure, client, err = f.tls(ctx, pod, s); err != nil && at.secure {
			return err
		}
		e.ClientCertificate, e.MetricsErr = client.description(), err
	}
	login, err := f.login(ctx, pod, s)
	if err != nil {
		return err
	}
	e.Username, e.Password, e.PasswordFrom, e.PasswordErr = login.user, login.password, login.from, login.unread
	e.Port, e.Address = at.port, at.address
	if at.secure {
		e.TLS = secure
	}
	if metrics.secure {
		e.MetricsTLS = secure
	}
	if metrics != at {
		e.MetricsPort, e.MetricsAddress = metrics.port, metrics.address
	}
	return nil
}
