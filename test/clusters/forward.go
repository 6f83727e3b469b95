// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
)

// forward opens a connection to a port of a pod through the API server: the host of
// a testbed, like an operator's machine, has no route to pods.
func (k *kube) forward(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	url := k.set.CoreV1().RESTClient().Post().
		Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, k.rest)
	if err != nil {
		return nil, fmt.Errorf("port-forward to pod %s/%s: %w", namespace, pod, err)
	}
	// The dialer takes no context. Where one ends first, the connection that still
	// comes is closed by whoever is left.
	type result struct {
		conn *forwarded
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		conn, err := openForward(dialer, port)
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

func openForward(dialer httpstream.Dialer, port int) (*forwarded, error) {
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, err
	}
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failure, err := conn.CreateStream(headers)
	if err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	_ = failure.Close() // for our side: nothing is ever sent on it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := conn.CreateStream(headers)
	if err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	f := &forwarded{Stream: data, conn: conn}
	go func() {
		// A refused port is told here, and the data stream stays open as if nothing were.
		if message, _ := io.ReadAll(failure); len(message) > 0 {
			_ = f.Close()
		}
	}()
	return f, nil
}

// forwarded is a port-forwarded connection.
type forwarded struct {
	httpstream.Stream

	conn httpstream.Connection
}

// Close ends both directions: nothing else uses the connection below.
func (f *forwarded) Close() error { return f.conn.Close() }

// Deadlines are not to be had on such a stream. gRPC closes a connection that is
// overdue.

func (f *forwarded) SetDeadline(time.Time) error      { return nil }
func (f *forwarded) SetReadDeadline(time.Time) error  { return nil }
func (f *forwarded) SetWriteDeadline(time.Time) error { return nil }
func (f *forwarded) LocalAddr() net.Addr              { return forwardAddr{} }
func (f *forwarded) RemoteAddr() net.Addr             { return forwardAddr{} }

type forwardAddr struct{}

func (forwardAddr) Network() string { return "port-forward" }
func (forwardAddr) String() string  { return "port-forward" }
