// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package etcd speaks to the members of an etcd cluster in Kubernetes: each over
// a port-forward of its own within this process, with no local port, deadlines
// on every call and certificates always verified. It decides nothing about a
// cluster. The plugin calls it; webhook and controller never do.
package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Endpoint is how one member is reached.
type Endpoint struct {
	Namespace, Pod string
	// Err is why this member can't be reached, as far as its pod's configuration
	// tells; nothing below is set then but Name and PeerURLs may be.
	Err error
	// Name and PeerURLs are what the pod's configuration calls its member.
	// Either may be empty where the configuration doesn't tell.
	Name     string
	PeerURLs []string
	// Port is where it listens for clients.
	Port int
	// TLS is nil where it serves clients in the clear. It verifies the member's
	// certificate against the names that this member may have.
	TLS *tls.Config
	// Username and Password are empty where auth is off or goes by certificate.
	Username, Password string
	// MetricsPort is where metrics are served, 0 for Port; MetricsTLS is nil
	// where that is in the clear.
	MetricsPort int
	MetricsTLS  *tls.Config
}

// Endpoints finds how to reach the members whose pods are there, in their
// order, and reads what it takes to log in to them: what c gives, else what the
// pods are given. It fails where that can be found for none of them; one alone
// for which it can't has its Err set.
func Endpoints(ctx context.Context, r *observe.Reader, o observe.Owner, c Credentials) ([]Endpoint, error) {
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return nil, err
	}
	services, err := r.ClientServices(ctx, o)
	if err != nil && !apierrors.IsForbidden(err) { // they only add names that a certificate may have
		return nil, err
	}
	f := finder{reader: r, files: r.Files(o.Namespace), owner: o, given: c, services: services}
	return f.endpoints(ctx, pods)
}

// PodEndpoint is Endpoints for a single pod that no known owner keeps.
func PodEndpoint(ctx context.Context, r *observe.Reader, pod *corev1.Pod, c Credentials) (Endpoint, error) {
	f := finder{reader: r, files: r.Files(pod.Namespace), given: c}
	all, err := f.endpoints(ctx, []*corev1.Pod{pod})
	if err != nil {
		return Endpoint{}, err
	}
	return all[0], nil
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

// fill finds how to reach the pod's member.
func (f *finder) fill(ctx context.Context, pod *corev1.Pod, e *Endpoint) error {
	s, err := f.files.Config(ctx, pod)
	if err != nil {
		return withAdvice(err, "")
	}
	e.Name, e.PeerURLs = s.Name, peerURLs(s)
	at, err := listens(s.ListenClient)
	if err != nil {
		return fmt.Errorf("reach pod %s/%s: its clients' URLs (listen-client-urls): %w", pod.Namespace, pod.Name, err)
	}
	m := metricsListener(s, at)
	var secure *tls.Config
	if at.secure || m.secure {
		if secure, err = f.tls(ctx, pod, s); err != nil {
			return err
		}
	}
	username, password, err := f.login(ctx, pod, s)
	if err != nil {
		return err
	}
	e.Port, e.Username, e.Password = at.port, username, password
	if at.secure {
		e.TLS = secure
	}
	if m.secure {
		e.MetricsTLS = secure
	}
	if m.port != at.port {
		e.MetricsPort = m.port
	}
	return nil
}

// peerURLs are by which others know the member: as it advertises them, or as the
// list that it starts with has them.
func peerURLs(s etcdconf.Config) []string {
	if s.Where["initial-advertise-peer-urls"] != "" {
		return s.AdvertisePeer
	}
	var urls []string
	for entry := range strings.SplitSeq(s.InitialCluster, ",") {
		name, url, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if ok && name == s.Name && s.Where["initial-cluster"] != "" {
			urls = append(urls, url)
		}
	}
	return urls
}
