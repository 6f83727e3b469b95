// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package tunnel opens connections to ports of pods through the API server, as kubectl
// port-forward does, but within this process and without a local port. It knows nothing
// about etcd.
package tunnel

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

// Dialer opens connections to ports of pods through the API server. Several
// goroutines may use it.
type Dialer struct {
	config *rest.Config
	// spdy is set when an upgrade to WebSocket has failed and one to SPDY has succeeded.
	// Later connections then use SPDY at once.
	spdy atomic.Bool
}

// New returns a dialer for the API server of config. It honours all settings of config,
// such as impersonation, proxies and a path before the API.
func New(config *rest.Config) *Dialer { return &Dialer{config: config} }

// Dial opens a separate connection to a port of a pod. If nothing listens on the port, Dial
// succeeds, and Read and Write return a *PortError. An error of the API server keeps its
// message and its status, so that apierrors.IsForbidden recognizes it.
func (d *Dialer) Dial(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	address, err := d.address(namespace, pod)
	if err != nil {
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", namespace, pod, err)
	}
	// The dialers take no context. If ctx ends first, a goroutine closes the connection
	// that may still be opened.
	type result struct {
		conn *podConn
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		upgraded, err := d.upgrade(address)
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
				_ = r.conn.Close() // the caller has returned
			}
		}()
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", namespace, pod, context.Cause(ctx))
	}
}

// address returns the URL of the pod's portforward subresource.
func (d *Dialer) address(namespace, pod string) (*url.URL, error) {
	config := rest.CopyConfig(d.config)
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.APIPath = "/api"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return client.Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL(), nil
}

// upgrade opens a connection by WebSocket, and by SPDY if an old API server or a proxy
// doesn't support WebSocket.
func (d *Dialer) upgrade(address *url.URL) (httpstream.Connection, error) {
	if d.spdy.Load() {
		return d.upgradeToSPDY(address)
	}
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(address, d.config)
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
	conn, second := d.upgradeToSPDY(address)
	if second != nil {
		return nil, joinRefusals(err, second)
	}
	d.spdy.Store(true)
	return conn, nil
}

func (d *Dialer) upgradeToSPDY(address *url.URL) (httpstream.Connection, error) {
	transport, upgrader, err := spdy.RoundTripperFor(d.config)
	if err != nil {
		return nil, err
	}
	dialer := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, address)
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	return conn, err
}

// joinRefusals returns the error of the API server, from its answers to both dialers. Only
// the first dialer keeps the status. Before Kubernetes 1.35 only the second one uses the verb
// that needs permission, so the message comes from the second answer.
func joinRefusals(first, second error) error {
	message := strings.TrimPrefix(second.Error(), "unable to upgrade connection: ")
	var upgrade *httpstream.UpgradeFailureError
	var status *apierrors.StatusError
	if !errors.As(first, &upgrade) || !errors.As(upgrade.Cause, &status) {
		return errors.New(message)
	}
	refusal := *status
	refusal.ErrStatus.Message = message
	return &refusal
}
