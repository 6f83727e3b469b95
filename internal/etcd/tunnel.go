// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// Tunnel opens connections to ports of pods through the API server. Several
// goroutines may use it.
type Tunnel struct {
	config *rest.Config
	// spdy is set once an upgrade to WebSocket has failed where one to SPDY didn't,
	// so that later connections don't try in vain.
	spdy atomic.Bool
}

// NewTunnel makes a tunnel for a kubeconfig; all of its features (impersonation,
// proxies, a path before the API) are honoured.
func NewTunnel(config *rest.Config) *Tunnel { return &Tunnel{config: config} }

// Dial opens one connection of its own to a pod's port. That nothing listens there
// is only known after the first bytes: it is the error of Read and Write then. A
// refusal by the API server is returned in its own words, and is what
// apierrors.IsForbidden and its like look at.
func (t *Tunnel) Dial(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	address, err := t.address(namespace, pod)
	if err != nil {
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", namespace, pod, err)
	}
	// The dialers take no context. Where it ends first, the connection that still
	// comes is closed by whoever is left.
	type result struct {
		conn *podConn
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		upgraded, err := t.upgrade(address)
		if err != nil {
			opened <- result{err: err}
			return
		}
		conn, err := openPort(upgraded, podAddr{namespace, pod, port})
		opened <- result{conn, err}
	}()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, fmt.Errorf("port-forward to pod %s/%s: %w", namespace, pod, r.err)
		}
		return r.conn, nil
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				_ = r.conn.Close() // nobody waits for it
			}
		}()
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", namespace, pod, context.Cause(ctx))
	}
}

// address is the subresource's, with the path that a kubeconfig has before the API.
func (t *Tunnel) address(namespace, pod string) (*url.URL, error) {
	config := rest.CopyConfig(t.config)
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.APIPath = "/api"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return client.Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL(), nil
}

// upgrade asks for a WebSocket first, and for SPDY where that fails at an old API
// server or at a proxy.
func (t *Tunnel) upgrade(address *url.URL) (httpstream.Connection, error) {
	if t.spdy.Load() {
		return t.upgradeToSPDY(address)
	}
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(address, t.config)
	if err != nil {
		return nil, err
	}
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err == nil {
		return conn, nil
	}
	if !httpstream.IsUpgradeFailure(err) && !httpstream.IsHTTPSProxyError(err) {
		return nil, err
	}
	conn, second := t.upgradeToSPDY(address)
	if second != nil {
		return nil, refusal(err, second)
	}
	t.spdy.Store(true)
	return conn, nil
}

func (t *Tunnel) upgradeToSPDY(address *url.URL) (httpstream.Connection, error) {
	transport, upgrader, err := spdy.RoundTripperFor(t.config)
	if err != nil {
		return nil, err
	}
	dialer := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, address)
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	return conn, err
}

// refusal is what the API server said. Only the first dialer keeps it as a status,
// and before Kubernetes 1.35 only the second asks for the verb that counts, so the
// words are the second's.
func refusal(first, second error) error {
	words := strings.TrimPrefix(second.Error(), "unable to upgrade connection: ")
	var upgrade *httpstream.UpgradeFailureError
	var status *apierrors.StatusError
	if !errors.As(first, &upgrade) || !errors.As(upgrade.Cause, &status) {
		return errors.New(words)
	}
	said := *status
	said.ErrStatus.Message = words
	return &said
}
